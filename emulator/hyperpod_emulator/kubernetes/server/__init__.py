"""The HTTP side of the Kubernetes API."""
