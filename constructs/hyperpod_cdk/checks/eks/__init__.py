"""Rules for clusters that EKS orchestrates, a file each."""
