"""The IAM roles of the templates, and the page about them."""
