"""The AWS calls that the provisioner makes."""
