"""The user's health check on each node with accelerators."""
