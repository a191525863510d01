"""The nodes of a cluster: which one is meant, how healthy it is, and what is done to it."""
