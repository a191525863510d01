"""Operators on the nodes, as EKS add-ons."""
