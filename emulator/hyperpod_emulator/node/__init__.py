"""A node's files and system commands, on which the real lifecycle scripts run."""
