"""Kubernetes priority classes."""
