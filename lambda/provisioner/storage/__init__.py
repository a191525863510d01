"""The file system of the nodes."""
