"""What an operator of a deployment uses."""
