"""The rows of the table that are not of node groups.

The keys are those of eksctl's schema, `eksctl utils schema`:
https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS, S3_CSI_DRIVER
from hyperpod_cdk.operators.section import OperatorsConfig
from hyperpod_cdk.schema.section import OfHyperPod
from hyperpod_cli.deliver.eksctl.row import UNREAD, Row, constant, rows

_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
BY_NAME = (
    "is a zone name, which stands for another zone in another account; write the zone ID from "
    "`aws ec2 describe-availability-zones`, such as usw2-az1"
)
"""What is said of a zone."""
_ADDON_SAYS = (
    "the deployment pins the version of each add-on (`hyperpod-cdk addon-versions`), and "
    "creates a role with the permissions that it needs"
)
_OWN_ROLE = (
    "the deployment makes the role of the control plane; to keep yours, keep the "
    "cluster, by eks.cluster_arn"
)
_COMPONENT = "the deployment uses EKS's settings for the control plane's components"


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
    return rows(
        {
            "addons[].name": [
                *(Row(case=name) for name in always),
                *(
                    Row(case=name, ours=ours, read=constant(value=True))
                    for name, ours in switches.items()
                ),
                Row(
                    case="amazon-cloudwatch-observability",
                    ours="observability.cloudwatch",
                    read=constant({}),
                ),
                Row(
                    case="aws-fsx-csi-driver",
                    says="the driver comes with a file system: write the section storage "
                    "(docs/storage.md)",
                ),
                "install it after the deployment, with `aws eks create-addon`",
            ],
            "addons[].{attachPolicy,attachPolicyARNs,configurationValues,namespaceConfig,"
            "permissionsBoundary,podIdentityAssociations,serviceAccountRoleARN,tags,"
            "useDefaultPodIdentityAssociations,version,wellKnownPolicies}": _ADDON_SAYS,
            # Of the call that installs it, and of the output of eksctl.
            "addons[].{owners,publishers,resolveConflicts,types}": Row(),
            "addonsConfig.autoApplyPodIdentityAssociations": (Row(case="true"), _ADDON_SAYS),
            "addonsConfig.disableDefaultAddons": (
                Row(case="false"),
                "nodes need vpc-cni, kube-proxy and coredns, which are installed",
            ),
        }
    )


_METADATA = rows(
    {
        "{apiVersion,kind}": Row(),
        "metadata.name": Row(ours="eks.cluster_name"),
        "metadata.region": Row(ours="region"),
        "metadata.version": Row(ours="eks.version"),
        "metadata.tags": Row(ours="tags"),
        "metadata.annotations": "it has no effect on the cluster; write it as a comment",
        "metadata.{forceUpdateVersion,rollbackConfig}": "it is for a Kubernetes upgrade; see "
        "docs/kubernetes-upgrade.md",
    }
)

_IAM = rows(
    {
        "iam.withOIDC": "pods get AWS permissions through EKS Pod Identity, whose agent is "
        "installed, and no OIDC provider is created; for roles that trust one, "
        "run `aws iam create-open-id-connect-provider` after the deployment",
        "iam.{serviceAccounts,podIdentityAssociations}": "after the deployment, give each "
        "service account its role with `aws eks create-pod-identity-association`",
        "iam.{serviceRoleARN,serviceRolePermissionsBoundary}": _OWN_ROLE,
        "iam.{fargatePodExecutionRoleARN,fargatePodExecutionRolePermissionsBoundary}": (
            "no pod runs on Fargate"
        ),
        "iam.vpcResourceControllerPolicy": "it is for security groups of pods, which are not set "
        "up",
        "iamIdentityMappings": "access entries are used in place of the ConfigMap aws-auth; write "
        "the ARNs into eks.admins, eks.viewers or eks.editors",
        "accessConfig.accessEntries[]": (
            Row(ours="eks.admins[]", read=_admin),
            "write the ARN into eks.viewers, or with its namespaces into eks.editors",
        ),
        "accessConfig.authenticationMode": (
            Row(case="API"),
            "it is API, so the ConfigMap aws-auth has no effect",
        ),
        "accessConfig.bootstrapClusterCreatorAdminPermissions": (
            Row(case="false"),
            "CloudFormation makes the cluster; write your role into eks.admins",
        ),
        "identityProviders": "add it after the deployment, with `aws eks "
        "associate-identity-provider-config`",
    }
)

_NETWORK = rows(
    {
        "availabilityZones": Row(ours="network.availability_zone_ids", says=BY_NAME),
        "localZones": "EKS has no managed node groups in Local Zones",
        "vpc.id": Row(ours="network.vpc_id"),
        "vpc.cidr": Row(ours="network.vpc_cidr"),
        "vpc.subnets.private.<>.id": Row(
            ours="network.hyperpod_subnets[].subnet_id", is_composed=True
        ),
        "vpc.subnets.private.<>.az": Row(
            ours="network.hyperpod_subnets[].availability_zone_id", is_composed=True
        ),
        # Of a subnet that exists.
        "vpc.subnets.private.<>.cidr": Row(),
        "vpc.subnets.public": "nodes and control plane are in private subnets, and load balancers "
        "find public ones by their tags",
        "vpc.nat.gateway": (
            Row(case="Single", ours="network.nat_gateways", read=constant("single")),
            Row(case="HighlyAvailable", ours="network.nat_gateways", read=constant("one_per_zone")),
            Row(
                case="Disable",
                ours="network.nat_gateways",
                read=constant("none"),
                says="leaves nodes without internet access: add a NAT gateway, or set "
                "network.closed: true (docs/closed-network.md)",
            ),
        ),
        "vpc.clusterEndpoints.{privateAccess,publicAccess}": Row(
            ours="eks.endpoint_access", is_composed=True
        ),
        "vpc.publicAccessCIDRs": Row(ours="eks.public_access_cidrs"),
        "vpc.{securityGroup,sharedNodeSecurityGroup,controlPlaneSecurityGroupIDs}": (
            "one security group is made for control plane, nodes and file system; to use yours, "
            "which must let its members talk to each other, write network.security_group_id"
        ),
        "vpc.{controlPlaneSubnetIDs,controlPlaneOnPrivateSubnets}": (
            "the control plane is in private subnets; to name them, write network.eks_subnet_ids"
        ),
        "vpc.manageSharedNodeSecurityGroupRules": (
            Row(case="true"),
            "you manage the rules of network.security_group_id, except those of "
            "network.add_security_group_rules",
        ),
        "vpc.extraCIDRs": "a CIDR block of network.hyperpod_subnets outside vpc_cidr is added to "
        "the VPC",
        "vpc.{autoAllocateIPv6,extraIPv6CIDRs,ipv6Cidr,ipv6Pool}": "networks are IPv4 only",
        "vpc.{hostnameType,controlPlaneEgressMode}": "AWS's default is used",
        "privateCluster.enabled": (
            Row(case="false"),
            "for a network without internet access write network.closed: true, "
            "eks.endpoint_access: private and helm.image_registry (docs/closed-network.md)",
        ),
        "privateCluster.{additionalEndpointServices,skipEndpointCreation}": (
            "network.closed makes the endpoints that the deployment needs"
        ),
        "kubernetesNetworkConfig.ipFamily": Row(case="IPv4"),
        "kubernetesNetworkConfig.{ipFamily,serviceIPv6CIDR}": "networks are IPv4 only",
        "kubernetesNetworkConfig.serviceIPv4CIDR": "EKS chooses the addresses of services",
        "remoteNetworkConfig": "nodes are in AWS",
    }
)

_CONTROL_PLANE = rows(
    {
        "secretsEncryption.keyARN": Row(ours="eks.secrets_kms_key_arn"),
        "cloudWatch.clusterLogging.enableTypes": "every type of the control plane's logs is "
        "enabled",
        "cloudWatch.clusterLogging.logRetentionInDays": Row(ours="log_retention_days"),
        "upgradePolicy.supportType": (
            Row(case="EXTENDED"),
            "it is EXTENDED, EKS's default; to change it, run `aws eks update-cluster-config "
            "--upgrade-policy` after the deployment",
        ),
        "{controlPlaneScalingConfig,zonalShiftConfig}": "it is EKS's default; to change it, "
        "run `aws eks update-cluster-config` after the deployment",
        "{kubeAPIServerConfig,kubeControllerManagerConfig,kubeSchedulerConfig}": _COMPONENT,
        "outpost": "the control plane is in the region",
        "capabilities": "create it after the deployment, with `aws eks create-capability`",
        "gitops": "run `flux bootstrap` after the deployment",
    }
)

CLUSTER_ROWS: Sequence[Row] = (*_METADATA, *_NETWORK, *_CONTROL_PLANE, *_IAM, *_addons())
