"""The Lambda behind the custom resources."""
