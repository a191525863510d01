"""Lists the container images of a configuration, and mirrors them into the user's registry."""
