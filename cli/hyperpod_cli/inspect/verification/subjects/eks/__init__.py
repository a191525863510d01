"""Subjects of deployments on EKS alone."""
