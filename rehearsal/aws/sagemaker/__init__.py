"""The SageMaker API: IAM here, the clusters themselves in the HyperPod API behind."""
