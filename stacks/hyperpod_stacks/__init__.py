"""The stacks of a deployment, a file each; composition only."""
