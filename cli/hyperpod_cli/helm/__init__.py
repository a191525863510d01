"""The helm of this machine, and the binaries that the Lambda runs."""
