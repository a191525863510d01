"""EC2: the resource types that MiniStack lacks, and what it does not check."""
