"""The rows of the table that are of node groups.

The keys are those of eksctl's schema, `eksctl utils schema`:
https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from hyperpod_cli.deliver.eksctl.cluster_rows import BY_NAME
from hyperpod_cli.deliver.eksctl.row import UNREAD, Row, constant, rows

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


_Table = dict[str, Row | str | Sequence[Row | str]]

_SIZE: _Table = {
    "name": Row(ours="name"),
    "instanceType": Row(read=lambda name: [name], ours="instance_types"),
    "instanceTypes": Row(ours="instance_types"),
    "instanceSelector": "write the types that `eksctl create nodegroup --dry-run` finds into "
    "instance_types",
    "{desiredCapacity,minSize,maxSize}": Row(
        is_composed=True, ours="desired_size, min_size, max_size"
    ),
    "volumeSize": Row(ours="volume_size_gib"),
    "volumeType": Row(case="gp3"),
    "volumeEncrypted": Row(case="true"),
    "{volumeType,volumeEncrypted,volumeIOPS,volumeThroughput,volumeName}": (
        "root volumes are of type gp3 with its baseline, and encrypted"
    ),
    "volumeKmsKeyID": "encryption.kms_key_arn names one key for all data",
    "additionalVolumes": "give the root volume their size, by volume_size_gib, or use claims of "
    "pods",
}

_PLACE: _Table = {
    "availabilityZones": (
        Row(read=_only, says=BY_NAME, ours="availability_zone_id"),
        "a group is in one zone, or in those of all HyperPod subnets; for some of them, make a "
        "group for each zone",
    ),
    "subnets": (
        Row(read=_only, is_composed=True, ours="availability_zone_id"),
        "a group is in the subnet of one zone, or in all HyperPod subnets",
    ),
    "privateNetworking": (Row(case="true"), "nodes are in private subnets"),
    "efaEnabled": Row(ours="efa"),
    "placement.groupName": Row(
        read=constant(True),
        says="is not its name: the deployment makes a placement group for each group of nodes",
        ours="placement_group",
    ),
    "placement.spreadLevel": "a placement group is of strategy cluster",
    "securityGroups": "nodes have the security group of network.security_group_id, or the one "
    "that is made",
    "outpostARN": "nodes are in the region",
}

_TARGET = "capacityReservation.capacityReservationTarget"
_CAPACITY: _Table = {
    f"{_TARGET}.capacityReservationID": Row(ours="capacity_reservation_id"),
    f"{_TARGET}.capacityReservationResourceGroupARN": Row(
        ours="capacity_reservation_resource_group_arn"
    ),
    "capacityReservation.capacityReservationPreference": (
        Row(case="open"),
        "without a reservation of theirs, nodes run in open reservations that fit, and outside any",
    ),
    "instanceMarketOptions.marketType": (
        Row(case="capacity-block", read=constant("CapacityBlock"), ours="capacity"),
        "capacity is OnDemand, Spot or CapacityBlock",
    ),
    "spot": (Row(case="true", read=constant("Spot"), ours="capacity"), Row()),
}

_SOFTWARE: _Table = {
    "releaseVersion": Row(ours="release_version"),
    "amiFamily": (
        Row(case="AmazonLinux2023"),
        "nodes run Amazon Linux 2023; check what pods expect of the host",
    ),
    "ami": (
        Row(case="auto"),
        Row(case="auto-ssm"),
        "nodes run EKS's AMI for their hardware, which release_version pins",
    ),
    "launchTemplate": "the deployment makes one; write what it holds into the keys of node_groups",
    "overrideBootstrapCommand": Row(read=_raid0, ours="raid0"),
    "{overrideBootstrapCommand,preBootstrapCommands}": "a node runs what EKS's AMI does and "
    "nothing else; run such commands in a privileged DaemonSet",
    "bottlerocket": "nodes run Amazon Linux 2023",
    "maxPodsPerNode": "EKS's AMI computes it from the network interfaces of the type",
}

_MANAGEMENT: _Table = {
    "labels": Row(ours="labels"),
    "taints": Row(read=_taints, ours="taints"),
    "tags": "tags at the top are for every resource",
    "{propagateASGTags,asgSuspendProcesses}": "EKS manages the Auto Scaling group",
    "{instanceName,instancePrefix}": "instances have the tags of EKS, and eks:nodegroup-name "
    "among them",
    "nodeRepairConfig.enabled": Row(ours="node_repair"),
    "nodeRepairConfig.{maxParallelNodesRepairedCount,maxParallelNodesRepairedPercentage,"
    "maxUnhealthyNodeThresholdCount,maxUnhealthyNodeThresholdPercentage,"
    "nodeRepairConfigOverrides}": "node repair has EKS's defaults",
    "updateConfig.maxUnavailable": Row(ours="max_unavailable"),
    "updateConfig.maxUnavailablePercentage": "write max_unavailable, a number of nodes",
    "enableDetailedMonitoring": Row(ours="detailed_monitoring"),
    "disableIMDSv1": (Row(case="true"), "instances answer to IMDSv2 alone"),
    "disablePodIMDS": (Row(case="true"), "pods get rights by EKS Pod Identity"),
    "ebsOptimized": (Row(case="true"), "it is as the instance type has it"),
    "ssh.allow": Row(case="false"),
    "ssh.enableSsm": Row(case="true"),
    "ssh.{allow,enableSsm,publicKey,publicKeyName,publicKeyPath,sourceSecurityGroupIds}": (
        "no node listens for SSH; `kubectl debug node/<node>` opens a shell on one"
    ),
    "iam.{attachPolicy,attachPolicyARNs,instanceProfileARN,instanceRoleARN,instanceRoleName,"
    "instanceRolePermissionsBoundary}": _OWN_ROLE,
    **{f"iam.withAddonPolicies.{key}": _ADDON_POLICY + each for key, each in _POLICIES.items()},
}

_OTHERS = rows(
    {
        "nodeGroups": "these are self-managed, and here EKS manages node groups; rename the key to "
        "managedNodeGroups and import again, to see what of them is carried",
        "autoModeConfig": (
            Row(read=lambda mode: mode if mode == {"enabled": False} else UNREAD),
            "nodes are those of node_groups and cluster; EKS Auto Mode is off",
        ),
        "fargateProfiles": "no pod runs on Fargate, so give such pods nodes in node_groups",
        "karpenter": "scale by operators.cluster_autoscaler, or HyperPod's nodes by "
        "cluster.auto_scaling",
    }
)

GROUP_ROWS: Sequence[Row] = (
    *rows(
        _SIZE | _PLACE | _CAPACITY | _SOFTWARE | _MANAGEMENT, theirs=f"{_THEIRS}.", ours=f"{_OURS}."
    ),
    *_OTHERS,
)
