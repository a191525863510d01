"""Teams that share a cluster, and what keeps them apart."""
