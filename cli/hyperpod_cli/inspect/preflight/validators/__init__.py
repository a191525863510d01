"""The validators, one a file: each is found because it is there."""
