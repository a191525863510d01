"""`hyperpod-cdk deploy`: its progress, and what came of it."""
