"""One command for each generated file; docs/architecture.md lists them."""
