"""What the pipeline's own steps run, and what `make pipeline` looks at first."""
