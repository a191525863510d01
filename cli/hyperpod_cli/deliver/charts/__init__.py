"""Packages the official HyperPod Helm chart with its dependencies."""
