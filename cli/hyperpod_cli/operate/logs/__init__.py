"""What lifecycle scripts did on a node."""
