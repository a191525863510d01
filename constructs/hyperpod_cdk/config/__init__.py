"""The configuration of a deployment as a whole."""
