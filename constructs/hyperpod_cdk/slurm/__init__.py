"""Slurm as the orchestrator of a HyperPod cluster."""
