"""`make destroy` and `make destroy-all`: what goes and what stays, and its progress."""
