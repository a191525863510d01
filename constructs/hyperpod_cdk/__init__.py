"""AWS CDK constructs for Amazon SageMaker HyperPod on Amazon EKS."""
