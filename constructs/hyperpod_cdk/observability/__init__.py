"""Metrics, logs, dashboards and notifications of a deployment."""
