"""A health check of one's own on each node with accelerators."""
