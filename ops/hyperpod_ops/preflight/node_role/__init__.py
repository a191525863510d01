"""Whether a role of one's own lets nodes do their work."""
