"""The rows of the table that are not of node groups.

The keys are those of eksctl's schema, `eksctl utils schema`:
https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS, S3_CSI_DRIVER
from hyperpod_cdk.operators.section import OperatorsConfig
from hyperpod_cdk.schema.section import OfHyperPod
from hyperpod_cli.deliver.eksctl.row import UNREAD, Row, constant

_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
BY_NAME = (
    "is by name, which in another account is another place; write the ID that `aws ec2 "
    "describe-availability-zones` tells, such as usw2-az1"
)
"""What is said of a zone."""
_ADDON_SAYS = (
    "an add-on that is installed here has the version of `hyperpod-cdk "
    "addon-versions`, and a role with the rights that it needs"
)
_OWN_ROLE = (
    "the deployment makes the role of the control plane; to keep yours, keep the "
    "cluster, by eks.cluster_arn"
)
_COMPONENT = "the deployment leaves the control plane's components as EKS has them"


def _admin(entry: Any) -> object:  # noqa: ANN401 - what comes from YAML
    """Return the ARN of an access entry of nothing but an admin's rights."""
    if not isinstance(entry, Mapping) or entry.keys() - {"type"} != {
        "principalARN",
        "accessPolicies",
    }:
        return UNREAD
    whole = {"policyARN": _ADMIN, "accessScope": {"type": "cluster"}}
    is_plain = entry.get("type", "STANDARD") == "STANDARD" and entry["accessPolicies"] == [whole]
    return entry["principalARN"] if is_plain else UNREAD


def _addons() -> Sequence[Row]:
    """Return a row for each add-on that there is a switch for, or that is always installed."""
    always = ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent")
    fields = OperatorsConfig.model_fields
    switches = {
        addon.name: f"operators.{addon.key}"
        for addon in OPERATOR_ADDONS
        if OfHyperPod() not in fields[addon.key].metadata
        # Its role reads the buckets of HyperPod's configuration, and none of those of pods here.
        and addon is not S3_CSI_DRIVER
    }
    key = "addons[].name"
    return (
        *(Row(key=key, case=name) for name in always),
        *(
            Row(key=key, case=name, ours=ours, read=constant(value=True))
            for name, ours in switches.items()
        ),
        Row(
            key=key,
            case="amazon-cloudwatch-observability",
            ours="observability.cloudwatch",
            read=constant({}),
        ),
        Row(
            key=key,
            case="aws-fsx-csi-driver",
            says="the driver comes with a file system: write the section storage (docs/storage.md)",
        ),
        Row(
            key=key,
            says="install it once the cluster is there, by `aws eks create-addon`",
        ),
        Row(
            key="addons[].{attachPolicy,attachPolicyARNs,configurationValues,namespaceConfig,"
            "permissionsBoundary,podIdentityAssociations,serviceAccountRoleARN,tags,"
            "useDefaultPodIdentityAssociations,version,wellKnownPolicies}",
            says=_ADDON_SAYS,
        ),
        # Of the call that installs it, and of the output of eksctl.
        Row(key="addons[].{owners,publishers,resolveConflicts,types}"),
        Row(key="addonsConfig.autoApplyPodIdentityAssociations", case="true"),
        Row(key="addonsConfig.autoApplyPodIdentityAssociations", says=_ADDON_SAYS),
        Row(key="addonsConfig.disableDefaultAddons", case="false"),
        Row(
            key="addonsConfig.disableDefaultAddons",
            says="nodes need vpc-cni, kube-proxy and coredns, which are installed",
        ),
    )


_METADATA = (
    Row(key="{apiVersion,kind}"),
    Row(key="metadata.name", ours="eks.cluster_name"),
    Row(key="metadata.region", ours="region"),
    Row(key="metadata.version", ours="eks.version"),
    Row(key="metadata.tags", ours="tags"),
    Row(key="metadata.annotations", says="it is for readers alone; write it as a comment"),
    Row(
        key="metadata.{forceUpdateVersion,rollbackConfig}",
        says="it is for an upgrade of Kubernetes, which docs/kubernetes-upgrade.md has",
    ),
)

_IAM = (
    Row(
        key="iam.withOIDC",
        says="pods get rights in AWS by EKS Pod Identity, whose agent is "
        "installed, and no OIDC provider is made; for roles that trust one, run `aws iam "
        "create-open-id-connect-provider` once the cluster is there",
    ),
    Row(
        key="iam.{serviceAccounts,podIdentityAssociations}",
        says="give each service account its role once the cluster is there, by "
        "`aws eks create-pod-identity-association`",
    ),
    Row(key="iam.{serviceRoleARN,serviceRolePermissionsBoundary}", says=_OWN_ROLE),
    Row(
        key="iam.{fargatePodExecutionRoleARN,fargatePodExecutionRolePermissionsBoundary}",
        says="no pod runs on Fargate",
    ),
    Row(
        key="iam.vpcResourceControllerPolicy",
        says="it is for security groups of pods, which are not set up",
    ),
    Row(
        key="iamIdentityMappings",
        says="access entries are used in place of the ConfigMap aws-auth; write "
        "the ARNs into eks.admins, eks.viewers or eks.editors",
    ),
    Row(key="accessConfig.accessEntries[]", ours="eks.admins[]", read=_admin),
    Row(
        key="accessConfig.accessEntries[]",
        says="write the ARN into eks.viewers, or with its namespaces into eks.editors",
    ),
    Row(key="accessConfig.authenticationMode", case="API"),
    Row(
        key="accessConfig.authenticationMode",
        says="it is API, so the ConfigMap aws-auth has no effect",
    ),
    Row(key="accessConfig.bootstrapClusterCreatorAdminPermissions", case="false"),
    Row(
        key="accessConfig.bootstrapClusterCreatorAdminPermissions",
        says="CloudFormation makes the cluster; write your role into eks.admins",
    ),
    Row(
        key="identityProviders",
        says="add it once the cluster is there, by `aws eks associate-identity-provider-config`",
    ),
)

_NETWORK = (
    Row(key="availabilityZones", ours="network.availability_zone_ids", says=BY_NAME),
    Row(
        key="localZones",
        says="EKS has no managed node groups in Local Zones",
    ),
    Row(key="vpc.id", ours="network.vpc_id"),
    Row(key="vpc.cidr", ours="network.vpc_cidr"),
    Row(
        key="vpc.subnets.private.<>.id",
        ours="network.hyperpod_subnets[].subnet_id",
        is_composed=True,
    ),
    Row(
        key="vpc.subnets.private.<>.az",
        ours="network.hyperpod_subnets[].availability_zone_id",
        is_composed=True,
    ),
    # Of a subnet that exists.
    Row(key="vpc.subnets.private.<>.cidr"),
    Row(
        key="vpc.subnets.public",
        says="nodes and control plane are in private subnets, and load "
        "balancers find public ones by their tags",
    ),
    Row(key="vpc.nat.gateway", case="Single", ours="network.nat_gateways", read=constant("single")),
    Row(
        key="vpc.nat.gateway",
        case="HighlyAvailable",
        ours="network.nat_gateways",
        read=constant("one_per_zone"),
    ),
    Row(
        key="vpc.nat.gateway",
        case="Disable",
        ours="network.nat_gateways",
        read=constant("none"),
        says="leaves nodes without a way out: give them one, or write network.closed: true "
        "(docs/closed-network.md)",
    ),
    Row(
        key="vpc.clusterEndpoints.{privateAccess,publicAccess}",
        ours="eks.endpoint_access",
        is_composed=True,
    ),
    Row(key="vpc.publicAccessCIDRs", ours="eks.public_access_cidrs"),
    Row(
        key="vpc.{securityGroup,sharedNodeSecurityGroup,controlPlaneSecurityGroupIDs}",
        says="one security group is made for control plane, nodes and file "
        "system; to use yours, which must let its members talk to each other, write "
        "network.security_group_id",
    ),
    Row(
        key="vpc.{controlPlaneSubnetIDs,controlPlaneOnPrivateSubnets}",
        says="the control plane is in private subnets; to name them, write network.eks_subnet_ids",
    ),
    Row(key="vpc.manageSharedNodeSecurityGroupRules", case="true"),
    Row(
        key="vpc.manageSharedNodeSecurityGroupRules",
        says="the rules of network.security_group_id are yours, but for those of "
        "network.add_security_group_rules",
    ),
    Row(
        key="vpc.extraCIDRs",
        says="a CIDR block of network.hyperpod_subnets outside vpc_cidr is added to the VPC",
    ),
    Row(
        key="vpc.{autoAllocateIPv6,extraIPv6CIDRs,ipv6Cidr,ipv6Pool}",
        says="networks are IPv4 only",
    ),
    Row(
        key="vpc.{hostnameType,controlPlaneEgressMode}",
        says="AWS's default is used",
    ),
    Row(key="privateCluster.enabled", case="false"),
    Row(
        key="privateCluster.enabled",
        says="for a network without internet access write network.closed: true, "
        "eks.endpoint_access: private and helm.image_registry (docs/closed-network.md)",
    ),
    Row(
        key="privateCluster.{additionalEndpointServices,skipEndpointCreation}",
        says="network.closed makes the endpoints that the deployment needs",
    ),
    Row(key="kubernetesNetworkConfig.ipFamily", case="IPv4"),
    Row(
        key="kubernetesNetworkConfig.{ipFamily,serviceIPv6CIDR}",
        says="networks are IPv4 only",
    ),
    Row(
        key="kubernetesNetworkConfig.serviceIPv4CIDR",
        says="EKS chooses the addresses of services",
    ),
    Row(
        key="remoteNetworkConfig",
        says="nodes are in AWS",
    ),
)

_CONTROL_PLANE = (
    Row(key="secretsEncryption.keyARN", ours="eks.secrets_kms_key_arn"),
    Row(
        key="cloudWatch.clusterLogging.enableTypes",
        says="every type of the control plane's logs is enabled",
    ),
    Row(key="cloudWatch.clusterLogging.logRetentionInDays", ours="log_retention_days"),
    Row(key="upgradePolicy.supportType", case="EXTENDED"),
    Row(
        key="upgradePolicy.supportType",
        says="it is EXTENDED, EKS's default; once the cluster is there, `aws eks "
        "update-cluster-config --upgrade-policy` changes it",
    ),
    Row(
        key="{controlPlaneScalingConfig,zonalShiftConfig}",
        says="it is EKS's default; once the cluster is there, `aws eks "
        "update-cluster-config` changes it",
    ),
    Row(
        key="{kubeAPIServerConfig,kubeControllerManagerConfig,kubeSchedulerConfig}",
        says=_COMPONENT,
    ),
    Row(key="outpost", says="the control plane is in the region"),
    Row(
        key="capabilities",
        says="make it once the cluster is there, by `aws eks create-capability`",
    ),
    Row(
        key="gitops",
        says="run `flux bootstrap` once the cluster is there",
    ),
)

CLUSTER_ROWS: Sequence[Row] = (*_METADATA, *_NETWORK, *_CONTROL_PLANE, *_IAM, *_addons())
