"""A packaged Helm chart: what it has, and what a configuration asks of it."""
