"""Commands that only read: before a deployment, and after it."""
