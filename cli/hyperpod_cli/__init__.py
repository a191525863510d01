"""What an operator of a deployment uses: `hyperpod-cdk`."""
