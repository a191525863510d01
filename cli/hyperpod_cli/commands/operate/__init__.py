"""Commands for a cluster that is deployed."""
