"""Verification of a deployment, and inspection of its stacks, cluster and release."""
