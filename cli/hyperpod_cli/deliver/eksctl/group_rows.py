"""The rows of the table that are of node groups.

The keys are those of eksctl's schema, `eksctl utils schema`:
https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from hyperpod_cli.deliver.eksctl.cluster_rows import BY_NAME
from hyperpod_cli.deliver.eksctl.row import UNREAD, Row, constant

_THEIRS, _OURS = "managedNodeGroups[]", "node_groups[]"
_OWN_ROLE = (
    "the deployment makes the nodes' role, with what EKS needs of it; give pods "
    "rights of their own, by `aws eks create-pod-identity-association`"
)
_ADDON_POLICY = "nodes get no such rights, which each of their pods would have; "
_POLICIES: Mapping[str, str] = {
    "autoScaler": "operators.cluster_autoscaler: true installs it with a role of its own",
    "cloudWatch": "observability.cloudwatch: {} installs the agent with a role of its own",
    "ebs": "operators.ebs_csi_driver: true installs the driver with a role of its own",
    "fsx": "the driver that comes with the section storage has a role of its own",
    "{albIngress,appMesh,appMeshPreview,awsLoadBalancerController,certManager,efs,"
    "externalDNS,imageBuilder,xRay}": "give the pods that need them a role, by `aws eks "
    "create-pod-identity-association`",
}


def _only(values: Any) -> object:  # noqa: ANN401 - what comes from YAML
    """Return the one entry of a list."""
    return values[0] if isinstance(values, list) and len(values) == 1 else UNREAD


def _taints(value: Any) -> object:  # noqa: ANN401 - what comes from YAML
    """Return a list of taints, which eksctl also takes as a mapping of keys to value:effect."""
    if not isinstance(value, Mapping):
        return value
    pairs = {key: str(text).rpartition(":") for key, text in value.items()}
    return [
        {"key": key, **({"value": text} if text else {}), "effect": effect}
        for key, (text, _, effect) in pairs.items()
    ]


def _raid0(text: Any) -> object:  # noqa: ANN401 - what comes from YAML
    """Return that local disks become one, of a NodeConfig that says nothing else.

    https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
    """
    try:
        node = yaml.safe_load(text) if isinstance(text, str) else None
    except yaml.YAMLError:
        return UNREAD
    spec = {"instance": {"localStorage": {"strategy": "RAID0"}}}
    wanted = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
    return True if node == wanted else UNREAD


def _row(key: str, ours: str = "", **more: Any) -> Row:
    """Return a row for a key of a group, with the key that takes it here."""
    return Row(key=f"{_THEIRS}.{key}", ours=f"{_OURS}.{ours}" if ours else "", **more)


_SIZE = (
    _row("name", "name"),
    _row("instanceType", "instance_types", read=lambda name: [name]),
    _row("instanceTypes", "instance_types"),
    _row(
        "instanceSelector",
        says="write the types that `eksctl create nodegroup --dry-run` finds into instance_types",
    ),
    _row("{desiredCapacity,minSize,maxSize}", "desired_size, min_size, max_size", is_composed=True),
    _row("volumeSize", "volume_size_gib"),
    _row("volumeType", case="gp3"),
    _row("volumeEncrypted", case="true"),
    _row(
        "{volumeType,volumeEncrypted,volumeIOPS,volumeThroughput,volumeName}",
        says="root volumes are of type gp3 with its baseline, and encrypted",
    ),
    _row(
        "volumeKmsKeyID",
        says="encryption.kms_key_arn names one key for all data",
    ),
    _row(
        "additionalVolumes",
        says="give the root volume their size, by volume_size_gib, or use claims of pods",
    ),
)

_PLACE = (
    _row("availabilityZones", "availability_zone_id", read=_only, says=BY_NAME),
    _row(
        "availabilityZones",
        says="a group is in one zone, or in those of all HyperPod subnets; for "
        "some of them, make a group for each zone",
    ),
    _row("subnets", "availability_zone_id", read=_only, is_composed=True),
    _row(
        "subnets",
        says="a group is in the subnet of one zone, or in all HyperPod subnets",
    ),
    _row("privateNetworking", case="true"),
    _row("privateNetworking", says="nodes are in private subnets"),
    _row("efaEnabled", "efa"),
    _row(
        "placement.groupName",
        "placement_group",
        read=constant(True),
        says="is not its name: the deployment makes a placement group for each group of nodes",
    ),
    _row(
        "placement.spreadLevel",
        says="a placement group is of strategy cluster",
    ),
    _row(
        "securityGroups",
        says="nodes have the security group of network.security_group_id, or the one that is made",
    ),
    _row("outpostARN", says="nodes are in the region"),
)

_TARGET = "capacityReservation.capacityReservationTarget"
_CAPACITY = (
    _row(f"{_TARGET}.capacityReservationID", "capacity_reservation_id"),
    _row(
        f"{_TARGET}.capacityReservationResourceGroupARN", "capacity_reservation_resource_group_arn"
    ),
    _row("capacityReservation.capacityReservationPreference", case="open"),
    _row(
        "capacityReservation.capacityReservationPreference",
        says="without a reservation of theirs, nodes run in open reservations that "
        "fit, and outside any",
    ),
    _row(
        "instanceMarketOptions.marketType",
        "capacity",
        case="capacity-block",
        read=constant("CapacityBlock"),
    ),
    _row(
        "instanceMarketOptions.marketType",
        says="capacity is OnDemand, Spot or CapacityBlock",
    ),
    _row("spot", "capacity", case="true", read=constant("Spot")),
    _row("spot"),
)

_SOFTWARE = (
    _row("releaseVersion", "release_version"),
    _row("amiFamily", case="AmazonLinux2023"),
    _row(
        "amiFamily",
        says="nodes run Amazon Linux 2023; check what pods expect of the host",
    ),
    _row("ami", case="auto"),
    _row("ami", case="auto-ssm"),
    _row(
        "ami",
        says="nodes run EKS's AMI for their hardware, which release_version pins",
    ),
    _row(
        "launchTemplate",
        says="the deployment makes one; write what it holds into the keys of node_groups",
    ),
    _row("overrideBootstrapCommand", "raid0", read=_raid0),
    _row(
        "{overrideBootstrapCommand,preBootstrapCommands}",
        says="a node runs what EKS's AMI does and nothing else; run such commands "
        "in a privileged DaemonSet",
    ),
    _row("bottlerocket", says="nodes run Amazon Linux 2023"),
    _row(
        "maxPodsPerNode",
        says="EKS's AMI computes it from the network interfaces of the type",
    ),
)

_MANAGEMENT = (
    _row("labels", "labels"),
    _row("taints", "taints", read=_taints),
    _row("tags", says="tags at the top are for every resource"),
    _row(
        "{propagateASGTags,asgSuspendProcesses}",
        says="EKS manages the Auto Scaling group",
    ),
    _row(
        "{instanceName,instancePrefix}",
        says="instances have the tags of EKS, and eks:nodegroup-name among them",
    ),
    _row("nodeRepairConfig.enabled", "node_repair"),
    _row(
        "nodeRepairConfig.{maxParallelNodesRepairedCount,maxParallelNodesRepairedPercentage,"
        "maxUnhealthyNodeThresholdCount,maxUnhealthyNodeThresholdPercentage,"
        "nodeRepairConfigOverrides}",
        says="node repair has EKS's defaults",
    ),
    _row("updateConfig.maxUnavailable", "max_unavailable"),
    _row(
        "updateConfig.maxUnavailablePercentage",
        says="write max_unavailable, a number of nodes",
    ),
    _row("enableDetailedMonitoring", "detailed_monitoring"),
    _row("disableIMDSv1", case="true"),
    _row("disableIMDSv1", says="instances answer to IMDSv2 alone"),
    _row("disablePodIMDS", case="true"),
    _row("disablePodIMDS", says="pods get rights by EKS Pod Identity"),
    _row("ebsOptimized", case="true"),
    _row("ebsOptimized", says="it is as the instance type has it"),
    _row("ssh.allow", case="false"),
    _row("ssh.enableSsm", case="true"),
    _row(
        "ssh.{allow,enableSsm,publicKey,publicKeyName,publicKeyPath,sourceSecurityGroupIds}",
        says="no node listens for SSH; `kubectl debug node/<node>` opens a shell on one",
    ),
    _row(
        "iam.{attachPolicy,attachPolicyARNs,instanceProfileARN,instanceRoleARN,instanceRoleName,"
        "instanceRolePermissionsBoundary}",
        says=_OWN_ROLE,
    ),
    *(
        _row("iam.withAddonPolicies.{key}".replace("{key}", key), says=_ADDON_POLICY + instead)
        for key, instead in _POLICIES.items()
    ),
)

_OTHERS = (
    Row(
        key="nodeGroups",
        says="these are self-managed, and here EKS manages node groups; rename "
        "the key to managedNodeGroups and import again, to see what of them is carried",
    ),
    Row(key="autoModeConfig", read=lambda mode: mode if mode == {"enabled": False} else UNREAD),
    Row(
        key="autoModeConfig",
        says="nodes are those of node_groups and cluster; EKS Auto Mode is off",
    ),
    Row(
        key="fargateProfiles",
        says="no pod runs on Fargate, so give such pods nodes in node_groups",
    ),
    Row(
        key="karpenter",
        says="scale by operators.cluster_autoscaler, or HyperPod's nodes by cluster.auto_scaling",
    ),
)

GROUP_ROWS: Sequence[Row] = (*_SIZE, *_PLACE, *_CAPACITY, *_SOFTWARE, *_MANAGEMENT, *_OTHERS)
