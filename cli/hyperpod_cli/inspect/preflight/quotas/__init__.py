"""Whether the quotas of the account are enough."""
