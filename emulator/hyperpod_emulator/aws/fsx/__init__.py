"""FSx for Lustre, which MiniStack does not have."""
