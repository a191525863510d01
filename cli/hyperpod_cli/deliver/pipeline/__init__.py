"""What the pipeline's own steps run, and what `hyperpod-cdk pipeline` looks at first."""
