"""Rules for clusters that Slurm orchestrates, a file each."""
