"""Changes how many nodes a group has, in the configuration and by a deployment of it."""
