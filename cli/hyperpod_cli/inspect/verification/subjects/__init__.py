"""What must hold of a deployment, one subject a file: each is found because it is there."""
