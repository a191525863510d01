"""Helm releases: the HyperPod dependencies and PriorityClasses."""
