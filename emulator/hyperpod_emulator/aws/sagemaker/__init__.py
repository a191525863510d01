"""SageMaker: checks of IAM, S3, EKS and EC2 in front of the HyperPod API."""
