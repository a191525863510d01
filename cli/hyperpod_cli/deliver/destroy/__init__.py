"""`hyperpod-cdk destroy`: what goes and what stays, and its progress."""
