"""Patterns of Kubernetes names (RFC 1123).

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
