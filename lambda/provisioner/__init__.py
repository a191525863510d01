"""The custom-resource Lambda that installs Helm releases and creates HyperPod clusters."""
