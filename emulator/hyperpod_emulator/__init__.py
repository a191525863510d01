"""A local AWS for HyperPod: MiniStack with what it lacks, HyperPod, Kubernetes and nodes."""
