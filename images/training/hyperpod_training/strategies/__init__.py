"""How a model is spread over the processes of a run: a module for each `--strategy`."""
