"""What must hold of a deployment: one subject a file."""
