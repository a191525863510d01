"""What quotas of teams do to their jobs: Kueue's rules, simulated over a list of jobs."""
