"""Lists the container images of a configuration, and mirrors them into a registry of one's own."""
