"""Task governance: the cluster policy, and the quota of each team."""
