"""Writes a configuration from an eksctl ClusterConfig: `hyperpod-cdk import-eksctl`."""
