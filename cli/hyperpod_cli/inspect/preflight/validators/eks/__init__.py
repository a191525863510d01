"""Validators for deployments on EKS alone."""
