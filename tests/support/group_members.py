"""Members of requests to the HyperPod API, as its tests combine them."""

from typing import Any

ROOT_VOLUME = {"RootVolume": True, "VolumeKmsKeyId": "alias/ml"}
VOLUME = {"VolumeSizeInGB": 500}
CHECKS = ["InstanceStress", "InstanceConnectivity"]
LIFECYCLE = {"SourceS3Uri": "s3://sagemaker-ml"}
TAINTS = {"Taints": [{"Key": "gpu", "Effect": "NoSchedule"}]}
FLEXIBLE = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
OTHER_VPC = {"SecurityGroupIds": ["sg-2"], "Subnets": ["subnet-2"]}
AUTOSCALING = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
ROLE = "arn:aws-us-gov:iam::123456789012:role/path/name"


def volumes(*configs: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the storage of a group with these EBS volumes."""
    return [{"EbsVolumeConfig": config} for config in configs]
