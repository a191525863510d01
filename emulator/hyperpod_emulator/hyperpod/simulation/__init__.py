"""Clusters and nodes that change as simulated time passes."""
