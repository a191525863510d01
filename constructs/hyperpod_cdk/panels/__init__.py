"""Panels and alarms, each defined once: for CloudWatch, Prometheus and Grafana alike."""
