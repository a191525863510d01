"""Service Quotas: what the account may have."""
