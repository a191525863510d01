"""Whether nodes run whose GPUs a deployment would partition in another way."""

from hyperpod_cdk import Config
from hyperpod_cdk.facts import mig
from hyperpod_cdk.schema.errors import warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.operate.nodes.health import GROUP_LABEL


@validator(phase=Phase.EXISTING_RESOURCES, of_hyperpod=True, iam=["sagemaker:DescribeCluster"])
def mig_profiles(config: Config, target: Target) -> Problems:
    """GPUs of running nodes would be partitioned differently (w).

    Keys: cluster.instance_groups[].mig_profile

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-setup.html)
    """
    name = config.cluster.name
    cluster = answer_of(target.client("sagemaker").describe_cluster, ClusterName=name) or {}
    there = {group["InstanceGroupName"]: group for group in cluster.get("InstanceGroups", ())}
    for where, group in config.cluster.instance_groups_with_paths():
        current = there.get(group.name, {})
        labels = (current.get("KubernetesConfig") or {}).get("CurrentLabels") or {}
        before, wanted = labels.get(mig.LABEL), group.node_labels.get(mig.LABEL)
        if not current.get("CurrentCount") or before == wanted:
            continue
        message = (
            f"partitions the GPUs of {current['CurrentCount']} running nodes anew (now: "
            f"{before or 'whole'}), which fails while a pod has one: first `kubectl drain -l "
            f"{GROUP_LABEL}={group.name} --ignore-daemonsets --delete-emptydir-data`"
        )
        finding = warning((*where, "mig_profile"), group.mig_profile, message)
        yield finding, f"aws sagemaker describe-cluster --cluster-name {name}"
