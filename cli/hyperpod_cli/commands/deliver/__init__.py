"""Commands that prepare a configuration and deploy it."""
