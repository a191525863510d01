"""Writes a configuration from a few answers: `hyperpod-cdk init`."""
