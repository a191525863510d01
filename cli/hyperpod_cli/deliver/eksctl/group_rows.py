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
    "the deployment creates the nodes' role, with the permissions that EKS needs; give pods "
    "their own permissions, with `aws eks create-pod-identity-association`"
)
_ADDON_POLICY = "nodes do not get these permissions, because every pod on them would have them; "
_POLICIES: Mapping[str, str] = {
    "autoScaler": "operators.cluster_autoscaler: true installs it with its own IAM role",
    "cloudWatch": "observability.cloudwatch: {} installs the agent with its own IAM role",
    "ebs": "operators.ebs_csi_driver: true installs the driver with its own IAM role",
    "fsx": "the driver that the storage section installs has its own IAM role",
    "{albIngress,appMesh,appMeshPreview,awsLoadBalancerController,certManager,efs,"
    "externalDNS,imageBuilder,xRay}": "give the pods that need them a role with `aws eks "
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
    "placement.spreadLevel": "the placement group has the strategy cluster",
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
        "without their own reservation, nodes run in matching open reservations, or outside any",
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
    "launchTemplate": "the deployment creates one; write its settings into the keys of node_groups",
    "overrideBootstrapCommand": Row(read=_raid0, ours="raid0"),
    "{overrideBootstrapCommand,preBootstrapCommands}": "nodes run only the setup of EKS's AMI; "
    "use a privileged DaemonSet for such "
    "commands",
    "bottlerocket": "nodes run Amazon Linux 2023",
    "maxPodsPerNode": "EKS's AMI computes it from the network interfaces of the type",
}

_MANAGEMENT: _Table = {
    "labels": Row(ours="labels"),
    "taints": Row(read=_taints, ours="taints"),
    "tags": "the top-level tags apply to every resource",
    "{propagateASGTags,asgSuspendProcesses}": "EKS manages the Auto Scaling group",
    "{instanceName,instancePrefix}": "instances have the tags of EKS, such as eks:nodegroup-name",
    "nodeRepairConfig.enabled": Row(ours="node_repair"),
    "nodeRepairConfig.{maxParallelNodesRepairedCount,maxParallelNodesRepairedPercentage,"
    "maxUnhealthyNodeThresholdCount,maxUnhealthyNodeThresholdPercentage,"
    "nodeRepairConfigOverrides}": "node repair has EKS's defaults",
    "updateConfig.maxUnavailable": Row(ours="max_unavailable"),
    "updateConfig.maxUnavailablePercentage": "write max_unavailable, a number of nodes",
    "enableDetailedMonitoring": Row(ours="detailed_monitoring"),
    "disableIMDSv1": (Row(case="true"), "instances allow only IMDSv2"),
    "disablePodIMDS": (Row(case="true"), "pods get permissions through EKS Pod Identity"),
    "ebsOptimized": (Row(case="true"), "the instance type decides"),
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
        "nodeGroups": "these are self-managed, and the deployment creates only managed node "
        "groups; rename the key to managedNodeGroups and import again to see "
        "which settings can be kept",
        "autoModeConfig": (
            Row(read=lambda mode: mode if mode == {"enabled": False} else UNREAD),
            "nodes are those of node_groups and cluster; EKS Auto Mode is off",
        ),
        "fargateProfiles": "no pod runs on Fargate; add node_groups for these pods",
        "karpenter": "use operators.cluster_autoscaler, or cluster.auto_scaling for HyperPod nodes",
    }
)

GROUP_ROWS: Sequence[Row] = (
    *rows(
        _SIZE | _PLACE | _CAPACITY | _SOFTWARE | _MANAGEMENT, theirs=f"{_THEIRS}.", ours=f"{_OURS}."
    ),
    *_OTHERS,
)
