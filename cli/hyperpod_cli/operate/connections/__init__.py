"""Ways to a cluster with other tools: a shell on a node, kubectl."""
