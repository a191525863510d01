"""What is known of instance types, service limits and versions."""
