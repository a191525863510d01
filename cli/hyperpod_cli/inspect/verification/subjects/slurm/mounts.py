"""The file systems that HyperPod mounts on nodes."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.operate.clusters import find_cluster


@subject(phase=Phase.DATA, iam=["sagemaker:DescribeCluster"])
def mounts(deployment: LiveDeployment) -> Checks:
    """Each group without its own file systems mounts those of the deployment."""
    storage, cluster = deployment.config.storage, deployment.config.cluster
    if storage is None:
        return
    described = find_cluster(deployment.client("sagemaker"), cluster.name).groups
    for _, files in storage.placed_files:
        name = deployment.outputs_of("storage")[f"{files.output_prefix}FileSystemDnsName"]
        lacking = [
            group.name
            for group in cluster.instance_groups
            if not getattr(group, files.mounts_key)
            and name
            not in [
                mount.get("DnsName")
                for storage in described.get(group.name, {}).get("InstanceStorageConfigs") or ()
                for mount in storage.values()
            ]
        ]
        yield checked(
            f"aws sagemaker describe-cluster --cluster-name {cluster.name}: all mount {name}",
            problem=lacking,
            words="not on {}",
            advice="Run `hyperpod-cdk deploy`; nodes that run get it when they are replaced, or "
            "when their "
            "group was scaled to 0",
        )
