"""Write constructs/hyperpod_cdk/facts/service_limits.json from the pinned botocore service models.

Run it after raising the boto3 pin: `python scripts/generate_service_limits.py`. The package reads
the file, not botocore, because importing botocore would double the time of a synth.
"""

import json
import sys
from pathlib import Path

import botocore
import botocore.session

TARGET = Path(__file__).parents[1] / "constructs" / "hyperpod_cdk" / "facts" / "service_limits.json"

# Only what the configuration checks; every name is a shape of that service's API model.
SHAPES = {
    "sagemaker": (
        "AlarmName",
        "AutoRollbackAlarms",
        "ClusterAutoScalerType",
        "ClusterConfigMode",
        "ClusterDnsName",
        "ClusterEbsVolumeSizeInGB",
        "ClusterFSxLustreDeletionPolicy",
        "ClusterFsxMountPath",
        "ClusterInstanceCount",
        "ClusterInstanceGroupName",
        "ClusterInstanceGroupSpecifications",
        "ClusterInstanceMemoryAllocationPercentage",
        "ClusterInstanceStorageConfigs",
        "ClusterInstanceType",
        "ClusterInstanceTypes",
        "ClusterInterfaceType",
        "ClusterKubernetesLabelKey",
        "ClusterKubernetesLabelValue",
        "ClusterKubernetesLabels",
        "ClusterKubernetesTaintEffect",
        "ClusterKubernetesTaintKey",
        "ClusterKubernetesTaintValue",
        "ClusterKubernetesTaints",
        "ClusterLifeCycleConfigFileName",
        "ClusterMountName",
        "ClusterName",
        "ClusterNodeProvisioningMode",
        "ClusterNodeRecovery",
        "ClusterOnDrainTimeout",
        "ClusterPatchingStrategy",
        "ClusterRestrictedInstanceGroupSpecifications",
        "ClusterThreadsPerCore",
        "CronScheduleExpression",
        "DeepHealthCheckType",
        "DrainTimeoutInSecondsValue",
        "FSxLustrePerUnitStorageThroughput",
        "FSxLustreSizeInGiB",
        "IdleWaitWindowInSecondsValue",
        "ImageId",
        "ImageReleaseVersion",
        "NodeUnavailabilityType",
        "NodeUnavailabilityValue",
        "OnStartDeepHealthChecks",
        "S3Uri",
        "Subnets",
        "TagKey",
        "TagList",
        "TagValue",
        "VpcSecurityGroupIds",
        "WaitTimeIntervalInSeconds",
    ),
    "fsx": ("DataCompressionType", "Namespace"),
}
CONSTRAINTS = ("min", "max", "pattern", "enum")


def render() -> str:
    """Return the file's text as the installed botocore gives it."""
    session = botocore.session.get_session()
    shapes = {}
    for service, names in SHAPES.items():
        model = session.get_service_model(service)
        for name in names:
            metadata = model.shape_for(name).metadata
            shapes[f"{service}.{name}"] = {k: metadata[k] for k in CONSTRAINTS if k in metadata}
    regions = {
        region: partition
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("ec2", partition)
    }
    content = {"botocore": botocore.__version__, "regions": regions, "shapes": shapes}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
