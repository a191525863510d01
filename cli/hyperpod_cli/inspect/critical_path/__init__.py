"""`make critical-path`: the longest chain of resources of a first deployment."""
