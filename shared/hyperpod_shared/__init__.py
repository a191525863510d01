"""What the provisioner and the command line share: AWS's answers, owners, messages."""
