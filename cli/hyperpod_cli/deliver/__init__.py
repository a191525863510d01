"""What prepares a configuration and deploys it: the work of the commands of this wing."""
