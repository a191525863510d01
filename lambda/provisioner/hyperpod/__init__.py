"""`Custom::HyperPodCluster`."""
