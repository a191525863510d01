"""`Custom::HelmRelease`."""
