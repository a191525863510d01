"""What happened to a cluster, explained."""
