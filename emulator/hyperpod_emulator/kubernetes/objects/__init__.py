"""The objects of the cluster: their kinds, their rules, and where they are kept."""
