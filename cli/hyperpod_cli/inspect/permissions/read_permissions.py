"""What `deploy`, `preflight` and `verify` read, and of which resources."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.observability.section import METRICS_ADDON
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Value
from hyperpod_cli.inspect.permissions.names import Names, pattern, strings
from hyperpod_cli.inspect.permissions.needs import KEY, KEY_ID
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validators.bootstrap import BOOTSTRAP_VERSION
from hyperpod_cli.inspect.verification.verify import SUBJECTS

_DATABASE = "AWS::RDS::DBInstance"
# What `deploy` and `destroy` follow.
_FOLLOWS = ("cloudformation:DescribeStackEvents", "cloudformation:DescribeStackResources")
Permission = tuple[str, list[str], list[str]]
"""Name of a statement, its actions and its resources."""


def read_permissions(
    names: Names, *, eks_cluster: str | None, stacks: Iterable[str]
) -> Iterator[Permission]:
    """Yield a statement for each kind of resource that is read."""
    read = _Read(names=names, eks_cluster=eks_cluster, stacks=tuple(stacks))
    for name, patterns, resources in SCOPES:
        found = sorted(set(resources(read)))
        if found:
            yield name, [action for action in read_actions() if is_of(action, patterns)], found


@cache
def read_actions() -> Sequence[str]:
    """Return what `deploy` follows, and what validators and subjects say that they call."""
    actions = set(_FOLLOWS)
    for validator in VALIDATORS.values():
        actions.update(validator.iam)
    for subject in SUBJECTS.values():
        actions.update(subject.iam)
    return sorted(actions)


def is_of(action: str, patterns: Sequence[str]) -> bool:
    """Tell whether an action is in a row of `SCOPES`."""
    is_named = any(action in row for _, row, _ in SCOPES)
    return action in patterns if is_named else f"{action.partition(':')[0]}:*" in patterns


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """The resources that are read, as patterns of their ARNs; none if the templates have none."""

    names: Names
    eks_cluster: str | None
    stacks: Sequence[str]

    @property
    def where(self) -> Environment:
        """Where the deployment is."""
        return self.names.environment

    def own_stacks(self) -> Iterator[str]:
        """Yield the stacks."""
        yield from (self.where.arn("cloudformation", f"stack/{name}/*") for name in self.stacks)

    def control_plane(self, kind: str = "cluster", rest: str = "") -> Iterator[str]:
        """Yield the EKS cluster, or what it has."""
        if self.eks_cluster is not None:
            yield self.where.arn("eks", f"{kind}/{self.eks_cluster}{rest}")

    def node_groups(self) -> Iterator[str]:
        """Yield the node groups of the EKS cluster, if any is made."""
        if self.names.made("AWS::EKS::Nodegroup"):
            yield from self.control_plane("nodegroup", "/*/*")

    def existing_control_plane(self) -> Iterator[str]:
        """Yield the EKS cluster that no template makes."""
        if not self.names.made("AWS::EKS::Cluster"):
            yield from self.control_plane()

    def own_buckets(self, rest: str = "") -> Iterator[str]:
        """Yield the buckets that are made under a name that is known, or what they hold."""
        for bucket in self.names.made("AWS::S3::Bucket"):
            if "BucketName" in bucket.properties:
                name = pattern(bucket.properties["BucketName"], self.where)
                if "*" not in name:
                    yield self.where.arn("s3", f"{name}{rest}", region="", account="")

    def existing_buckets(self, rest: str = "") -> Iterator[str]:
        """Yield the buckets of lifecycle scripts that no template makes, or what they hold."""
        for bucket in self._named("Custom::LifecycleScripts", "DestinationBucket"):
            yield self.where.arn("s3", f"{bucket}{rest}", region="", account="")

    def keys(self) -> Iterator[str]:
        """Yield the KMS keys that no template makes."""
        yield from self.named(KEY.pattern)
        yield from (self.where.arn("kms", f"key/{each}") for each in self.named(KEY_ID.pattern))

    def named(self, form: str, *types: str) -> Iterator[str]:
        """Yield the texts of a form that resources, or those of types, name: none is made."""
        for resource in self.names.resources:
            if not types or resource.type in types:
                for text in strings(resource.properties, self.where):
                    if re.fullmatch(form, text) and "*" not in text:
                        yield text

    def databases(self) -> Iterator[str]:
        """Yield the databases that are made."""
        for name in self.names.of_type(_DATABASE) if self.names.made(_DATABASE) else ():
            yield self.where.arn("rds", f"db:{name}")

    def named_roles(self) -> Iterator[str]:
        """Yield the roles that are made under a name that is known."""
        for role in self._named("AWS::IAM::Role", "RoleName"):
            yield self.where.iam_arn(f"role/{role}")

    def node_roles(self) -> Iterator[str]:
        """Yield the roles that nodes run as and no template makes."""
        passed = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
        for policy in self.names.made("AWS::IAM::Policy"):
            for statement in policy.properties["PolicyDocument"]["Statement"]:
                if statement.get("Condition") == passed:
                    yield from self._roles(statement["Resource"])
        for cluster in self.names.made("AWS::SageMaker::Cluster"):
            for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
                for group in cluster.properties.get(kind, ()):
                    yield from self._roles(group["ExecutionRole"])

    def managed_policy(self) -> Iterator[str]:
        """Yield the policy of AWS that roles of nodes are compared with."""
        if any(self.node_roles()):
            yield self.where.iam_arn(f"policy/{MANAGED_POLICY}", account="aws")

    def if_made(self, resource_type: str, arn: str, **properties: str) -> Iterator[str]:
        """Yield an ARN if the templates have a resource of a type, with some properties."""
        for resource in self.names.made(resource_type):
            if properties.items() <= resource.properties.items():
                yield arn

    def _named(self, resource_type: str, key: str) -> Iterator[str]:
        """Yield the values of a property that are the whole of a name."""
        for resource in self.names.made(resource_type):
            name = pattern(resource.properties.get(key), self.where)
            if "*" not in name:
                yield name

    def _roles(self, value: Value) -> Iterator[str]:
        found = [value] if isinstance(value, str) else strings(value, self.where)
        yield from (arn for arn in found if ":role/" in arn and "*" not in arn)


def _if_made(
    made: str, service: str = "", resource: str = "", *, account: str | None = None, **given: str
) -> Callable[[_Read], Iterator[str]]:
    """Return what yields an ARN, or `*`, if the templates have a resource of a type."""
    return lambda read: read.if_made(
        made, read.where.arn(service, resource, account=account) if service else "*", **given
    )


def _naming(form: str, *types: str) -> Callable[[_Read], Iterator[str]]:
    """Return what yields the ARNs of a form that resources name, or those of some types."""
    return lambda read: read.named(form, *types)


def _everything(_read: _Read) -> Iterator[str]:
    """Yield `*`: the service limits it to no resource."""
    yield "*"


# https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
SCOPES: Sequence[tuple[str, list[str], Callable[[_Read], Iterable[str]]]] = (
    (
        "FindBootstrap",
        ["ssm:GetParameter"],
        lambda read: [read.where.arn("ssm", f"parameter{BOOTSTRAP_VERSION}")],
    ),
    (
        # What `hyperpod-cdk deploy` and `hyperpod-cdk destroy` follow, and compare with.
        "FollowStacks",
        ["cloudformation:*"],
        _Read.own_stacks,
    ),
    ("FindResourceTypes", ["cloudformation:DescribeType"], _everything),
    ("FindCluster", ["eks:DescribeCluster", "eks:ListAddons"], _Read.control_plane),
    ("FindAddons", ["eks:DescribeAddon"], lambda read: read.control_plane("addon", "/*")),
    ("FindNodeGroups", ["eks:DescribeNodegroup"], _Read.node_groups),
    (
        "FindOfferedAddons",
        ["eks:DescribeAddonVersions"],
        lambda read: ["*"] if read.eks_cluster is not None else [],
    ),
    ("LookAtControlPlane", ["eks:ListAccessEntries"], _Read.existing_control_plane),
    (
        "LookAtAccessEntries",
        ["eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"],
        lambda read: read.control_plane("access-entry", "/*"),
    ),
    (
        "LookAtNetwork",
        ["ec2:*"],
        _everything,
    ),
    ("LookAtVpc", ["ec2:DescribeVpcAttribute"], lambda read: [read.where.arn("ec2", "vpc/*")]),
    (
        "LookForEndpointServices",
        ["ec2:DescribeVpcEndpointServices"],
        _if_made("AWS::EC2::VPCEndpoint", VpcEndpointType="Interface"),
    ),
    (
        "LookAtQuotas",
        ["servicequotas:*"],
        _everything,
    ),
    ("ListClusters", ["sagemaker:ListClusters"], _everything),
    (
        "LookAtClusters",
        ["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes", "sagemaker:ListTags"],
        lambda read: [read.where.arn("sagemaker", "cluster/*")],
    ),
    (
        "ListTaskGovernance",
        ["sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"],
        _if_made("Custom::TaskGovernance"),
    ),
    (
        "LookAtPolicies",
        ["sagemaker:DescribeClusterSchedulerConfig"],
        _if_made("Custom::TaskGovernance", "sagemaker", "cluster-scheduler-config/*"),
    ),
    (
        "LookAtComputeQuotas",
        ["sagemaker:DescribeComputeQuota"],
        _if_made("Custom::TaskGovernance", "sagemaker", "compute-quota/*"),
    ),
    (
        "LookAtTrainingPlans",
        ["sagemaker:DescribeTrainingPlan"],
        lambda read: [read.where.arn("sagemaker", "training-plan/*")],
    ),
    (
        "LookAtBaseImages",
        ["ecr:BatchGetImage"],
        # Of AWS's account in the region, or of a copy.
        _if_made("AWS::ECR::Repository", "ecr", "repository/*", account="*"),
    ),
    ("LookForBucket", ["s3:GetEncryptionConfiguration", "s3:ListBucket"], _Read.own_buckets),
    ("LookAtScripts", ["s3:GetObject"], lambda read: read.own_buckets("/*")),
    (
        "LookAtBucket",
        [
            "s3:GetBucketPolicy",
            "s3:GetBucketPublicAccessBlock",
            "s3:GetBucketVersioning",
            "s3:GetEncryptionConfiguration",
            "s3:ListBucket",
        ],
        _Read.existing_buckets,
    ),
    ("LookAtObjects", ["s3:GetObjectTagging"], lambda read: read.existing_buckets("/*")),
    ("LookAtKeys", ["kms:DescribeKey", "kms:GetKeyPolicy"], _Read.keys),
    (
        "LookForAlias",
        ["kms:DescribeKey", "kms:GetKeyRotationStatus"],
        _if_made("AWS::KMS::Alias", "kms", "key/*"),
    ),
    (
        "LookForLogGroup",
        ["logs:DescribeLogGroups"],
        _if_made("AWS::Logs::LogGroup", "logs", "log-group:*"),
    ),
    ("LookForRole", ["iam:GetRole"], _Read.named_roles),
    (
        "LookAtOidcProvider",
        ["iam:GetOpenIDConnectProvider"],
        _naming(r"arn:.*:oidc-provider/.+", "AWS::IAM::Role"),
    ),
    ("LookAtRoles", ["iam:GetRole", "iam:SimulatePrincipalPolicy"], _Read.node_roles),
    ("LookAtManagedPolicy", ["iam:GetPolicy", "iam:GetPolicyVersion"], _Read.managed_policy),
    ("LookAtTopic", ["sns:GetTopicAttributes"], _naming(r"arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+")),
    (
        "LookAtReservations",
        ["resource-groups:ListGroupResources"],
        _naming(r"arn:[\w-]+:resource-groups:[\w-]+:\d{12}:group/.+"),
    ),
    (
        "LookAtPrometheus",
        ["aps:DescribeWorkspace"],
        _naming(r"arn:[\w-]+:aps:[\w-]+:\d{12}:workspace/ws-[\w-]+"),
    ),
    (
        "LookAtGrafana",
        ["grafana:DescribeWorkspace"],
        _if_made("AWS::EKS::Addon", "grafana", "/workspaces/*", AddonName=METRICS_ADDON),
    ),
    ("FindIdentityCenter", ["sso:ListInstances"], _if_made("AWS::Grafana::Workspace")),
    ("LookAtDatabases", ["rds:DescribeDBInstances"], _Read.databases),
    (
        "LookAtSecrets",
        ["secretsmanager:*"],
        _naming(r"arn:.*:secretsmanager:.+", "AWS::IAM::Policy"),
    ),
    (
        "LookAtFileSystems",
        ["fsx:*"],
        _if_made("Custom::FileSystemAvailability"),
    ),
)
"""Name of the statement, its actions, and their resources. A service's `*` is for those of its
actions that no row names."""
