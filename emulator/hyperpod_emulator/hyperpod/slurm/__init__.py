"""HyperPod under Slurm: what its nodes run and read."""
