"""Whether an existing role lets nodes do their work."""
