"""Validators for deployments with Slurm alone."""
