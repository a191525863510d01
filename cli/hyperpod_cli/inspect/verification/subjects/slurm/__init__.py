"""Subjects of deployments with Slurm alone."""
