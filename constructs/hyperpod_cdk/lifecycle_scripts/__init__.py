"""The bucket with the scripts that nodes run."""
