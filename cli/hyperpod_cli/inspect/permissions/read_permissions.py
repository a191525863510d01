"""What `make deploy`, `make preflight` and `make verify` read, and of which resources."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.observability.section import METRICS_ADDON
from hyperpod_cli.aws.assembly import TemplateResource, Value
from hyperpod_cli.inspect.permissions.names import Names, pattern, strings
from hyperpod_cli.inspect.permissions.needs import KEY, KEY_ID
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validators.bootstrap import BOOTSTRAP_VERSION
from hyperpod_cli.inspect.registered import Registered
from hyperpod_cli.inspect.verification.verify import READS, SUBJECTS

# What `make deploy` and `make destroy` follow, and compare with.
_FOLLOWED = (
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStackResources",
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "cloudformation:ListStackResources",
)

_TOPIC = re.compile(r"arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+")
_GROUP = re.compile(r"arn:[\w-]+:resource-groups:[\w-]+:\d{12}:group/.+")
_PROMETHEUS = re.compile(r"arn:[\w-]+:aps:[\w-]+:\d{12}:workspace/ws-[\w-]+")
_DATABASE = "AWS::RDS::DBInstance"
Permission = tuple[str, list[str], list[str]]
"""Name of a statement, its actions and its resources."""


def read_actions() -> set[str]:
    """Return the IAM actions of all that is read."""
    registered: Iterable[Registered[Any, Any]] = (*VALIDATORS.values(), *SUBJECTS.values())
    return {*_FOLLOWED, *READS, *(action for each in registered for action in each.reads)}


def read_permissions(
    names: Names, *, eks_cluster: str | None, stacks: Iterable[str]
) -> Iterator[Permission]:
    """Yield a statement for each kind of resource that is read."""
    read = _Read(names=names, eks_cluster=eks_cluster, stacks=tuple(stacks))
    actions = sorted(read_actions())
    for name, scope, resources in SCOPES:
        found = sorted(set(resources(read)))
        if found:
            yield name, [each for each in actions if re.fullmatch(scope, each)], found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """The resources that are read, as patterns of their ARNs; none if the templates have none."""

    names: Names
    eks_cluster: str | None
    stacks: Sequence[str]

    def arn(self, service: str, resource: str, *, account: str | None = None) -> str:
        """Return the ARN of a resource of the region, by default in the deployment's account."""
        where = self.names.environment
        return (
            f"arn:{where.partition}:{service}:{where.region}:{account or where.account}:{resource}"
        )

    def own_stacks(self) -> Iterator[str]:
        """Yield the stacks."""
        yield from (self.arn("cloudformation", f"stack/{name}/*") for name in self.stacks)

    def control_plane(self, kind: str = "cluster", rest: str = "") -> Iterator[str]:
        """Yield the EKS cluster, or what it has."""
        if self.eks_cluster is not None:
            yield self.arn("eks", f"{kind}/{self.eks_cluster}{rest}")

    def node_groups(self) -> Iterator[str]:
        """Yield the node groups of the EKS cluster, if any is made."""
        if self._of("AWS::EKS::Nodegroup"):
            yield from self.control_plane("nodegroup", "/*/*")

    def existing_control_plane(self) -> Iterator[str]:
        """Yield the EKS cluster that no template makes."""
        if not self._of("AWS::EKS::Cluster"):
            yield from self.control_plane()

    def own_buckets(self, rest: str = "") -> Iterator[str]:
        """Yield the buckets that are made under a name that is known, or what they hold."""
        for bucket in self._of("AWS::S3::Bucket"):
            if "BucketName" in bucket.properties:
                name = pattern(bucket.properties["BucketName"], self.names.environment)
                if "*" not in name:
                    yield f"arn:{self.names.environment.partition}:s3:::{name}{rest}"

    def existing_buckets(self, rest: str = "") -> Iterator[str]:
        """Yield the buckets of lifecycle scripts that no template makes, or what they hold."""
        partition = self.names.environment.partition
        for bucket in self._named("Custom::LifecycleScripts", "DestinationBucket"):
            yield f"arn:{partition}:s3:::{bucket}{rest}"

    def keys(self) -> Iterator[str]:
        """Yield the KMS keys that no template makes."""
        for resource in self.names.resources:
            for text in strings(resource.properties, self.names.environment):
                if KEY.fullmatch(text) and "*" not in text:
                    yield text
                elif KEY_ID.fullmatch(text):
                    yield self.arn("kms", f"key/{text}")

    def named(self, form: re.Pattern[str]) -> Iterator[str]:
        """Yield the ARNs of a form that templates name, of what none of them makes."""
        yield from sorted(
            {
                text
                for resource in self.names.resources
                for text in strings(resource.properties, self.names.environment)
                if form.fullmatch(text)
            }
        )

    def databases(self) -> Iterator[str]:
        """Yield the databases that are made."""
        for name in self.names.of_type(_DATABASE) if self._of(_DATABASE) else ():
            yield self.arn("rds", f"db:{name}")

    def secrets(self) -> Iterator[str]:
        """Yield the secrets that policies name and no template makes."""
        for policy in self._of("AWS::IAM::Policy"):
            for each in strings(policy.properties, self.names.environment):
                if ":secretsmanager:" in each and each.startswith("arn:") and "*" not in each:
                    yield each

    def named_roles(self) -> Iterator[str]:
        """Yield the roles that are made under a name that is known."""
        where = self.names.environment
        for role in self._named("AWS::IAM::Role", "RoleName"):
            yield f"arn:{where.partition}:iam::{where.account}:role/{role}"

    def oidc_providers(self) -> Iterator[str]:
        """Yield the OIDC providers that roles trust and no template makes."""
        for role in self._of("AWS::IAM::Role"):
            for text in strings(role.properties, self.names.environment):
                if ":oidc-provider/" in text and "*" not in text:
                    yield text

    def node_roles(self) -> Iterator[str]:
        """Yield the roles that nodes run as and no template makes."""
        passed = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
        for policy in self._of("AWS::IAM::Policy"):
            for statement in policy.properties["PolicyDocument"]["Statement"]:
                if statement.get("Condition") == passed:
                    yield from self._roles(statement["Resource"])
        for cluster in self._of("AWS::SageMaker::Cluster"):
            for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
                for group in cluster.properties.get(kind, ()):
                    yield from self._roles(group["ExecutionRole"])

    def managed_policy(self) -> Iterator[str]:
        """Yield the policy of AWS that roles of nodes are compared with."""
        if any(self.node_roles()):
            yield f"arn:{self.names.environment.partition}:iam::aws:policy/{MANAGED_POLICY}"

    def if_made(self, resource_type: str, arn: str, **properties: str) -> Iterator[str]:
        """Yield an ARN if the templates have a resource of a type, with some properties."""
        for resource in self._of(resource_type):
            if properties.items() <= resource.properties.items():
                yield arn

    def _of(self, resource_type: str) -> list[TemplateResource]:
        return [each for each in self.names.resources if each.type == resource_type]

    def _named(self, resource_type: str, key: str) -> Iterator[str]:
        """Yield the values of a property that are the whole of a name."""
        for resource in self._of(resource_type):
            name = pattern(resource.properties.get(key), self.names.environment)
            if "*" not in name:
                yield name

    def _roles(self, value: Value) -> Iterator[str]:
        found = [value] if isinstance(value, str) else strings(value, self.names.environment)
        yield from (arn for arn in found if ":role/" in arn and "*" not in arn)


def _if_made(
    made: str, service: str = "", resource: str = "", *, account: str | None = None, **given: str
) -> Callable[[_Read], Iterator[str]]:
    """Return what yields an ARN, or `*`, if the templates have a resource of a type."""
    return lambda read: read.if_made(
        made, read.arn(service, resource, account=account) if service else "*", **given
    )


def _everything(_read: _Read) -> Iterator[str]:
    """Yield `*`: the service limits it to no resource."""
    yield "*"


# https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
SCOPES: Sequence[tuple[str, str, Callable[[_Read], Iterable[str]]]] = (
    (
        "FindBootstrap",
        "ssm:GetParameter",
        lambda read: [read.arn("ssm", f"parameter{BOOTSTRAP_VERSION}")],
    ),
    ("FollowStacks", "cloudformation:(?!DescribeType).*", _Read.own_stacks),
    ("FindResourceTypes", "cloudformation:DescribeType", _everything),
    ("FindCluster", "eks:(DescribeCluster|ListAddons)", _Read.control_plane),
    ("FindAddons", "eks:DescribeAddon", lambda read: read.control_plane("addon", "/*")),
    ("FindNodeGroups", "eks:DescribeNodegroup", _Read.node_groups),
    (
        "FindOfferedAddons",
        "eks:DescribeAddonVersions",
        lambda read: ["*"] if read.eks_cluster is not None else [],
    ),
    ("LookAtControlPlane", "eks:ListAccessEntries", _Read.existing_control_plane),
    (
        "LookAtAccessEntries",
        "eks:(DescribeAccessEntry|ListAssociatedAccessPolicies)",
        lambda read: read.control_plane("access-entry", "/*"),
    ),
    ("LookAtNetwork", "ec2:(?!DescribeVpc(Attribute|EndpointServices)).*", _everything),
    ("LookAtVpc", "ec2:DescribeVpcAttribute", lambda read: [read.arn("ec2", "vpc/*")]),
    (
        "LookForEndpointServices",
        "ec2:DescribeVpcEndpointServices",
        _if_made("AWS::EC2::VPCEndpoint", VpcEndpointType="Interface"),
    ),
    ("LookAtQuotas", "servicequotas:.*", _everything),
    ("ListClusters", "sagemaker:ListClusters", _everything),
    (
        "LookAtClusters",
        "sagemaker:(DescribeCluster|ListClusterNodes|ListTags)",
        lambda read: [read.arn("sagemaker", "cluster/*")],
    ),
    (
        "ListTaskGovernance",
        "sagemaker:List(ClusterSchedulerConfig|ComputeQuota)s",
        _if_made("Custom::TaskGovernance"),
    ),
    (
        "LookAtPolicies",
        "sagemaker:DescribeClusterSchedulerConfig",
        _if_made("Custom::TaskGovernance", "sagemaker", "cluster-scheduler-config/*"),
    ),
    (
        "LookAtComputeQuotas",
        "sagemaker:DescribeComputeQuota",
        _if_made("Custom::TaskGovernance", "sagemaker", "compute-quota/*"),
    ),
    (
        "LookAtTrainingPlans",
        "sagemaker:DescribeTrainingPlan",
        lambda read: [read.arn("sagemaker", "training-plan/*")],
    ),
    (
        "LookAtBaseImages",
        "ecr:BatchGetImage",
        # Of AWS's account in the region, or of a copy.
        _if_made("AWS::ECR::Repository", "ecr", "repository/*", account="*"),
    ),
    ("LookForBucket", "s3:(GetEncryptionConfiguration|ListBucket)", _Read.own_buckets),
    ("LookAtScripts", "s3:GetObject", lambda read: read.own_buckets("/*")),
    ("LookAtBucket", "s3:(?!GetObject).*", _Read.existing_buckets),
    ("LookAtObjects", "s3:GetObjectTagging", lambda read: read.existing_buckets("/*")),
    ("LookAtKeys", "kms:(DescribeKey|GetKeyPolicy)", _Read.keys),
    (
        "LookForAlias",
        "kms:(DescribeKey|GetKeyRotationStatus)",
        _if_made("AWS::KMS::Alias", "kms", "key/*"),
    ),
    (
        "LookForLogGroup",
        "logs:DescribeLogGroups",
        _if_made("AWS::Logs::LogGroup", "logs", "log-group:*"),
    ),
    ("LookForRole", "iam:GetRole", _Read.named_roles),
    ("LookAtOidcProvider", "iam:GetOpenIDConnectProvider", _Read.oidc_providers),
    ("LookAtRoles", "iam:(GetRole|SimulatePrincipalPolicy)", _Read.node_roles),
    ("LookAtManagedPolicy", "iam:(GetPolicy|GetPolicyVersion)", _Read.managed_policy),
    ("LookAtTopic", "sns:GetTopicAttributes", lambda read: read.named(_TOPIC)),
    ("LookAtReservations", "resource-groups:ListGroupResources", lambda read: read.named(_GROUP)),
    ("LookAtPrometheus", "aps:DescribeWorkspace", lambda read: read.named(_PROMETHEUS)),
    (
        "LookAtGrafana",
        "grafana:DescribeWorkspace",
        _if_made("AWS::EKS::Addon", "grafana", "/workspaces/*", AddonName=METRICS_ADDON),
    ),
    ("FindIdentityCenter", "sso:ListInstances", _if_made("AWS::Grafana::Workspace")),
    ("LookAtDatabases", "rds:.*", _Read.databases),
    ("LookAtSecrets", "secretsmanager:.*", _Read.secrets),
    ("LookAtFileSystems", "fsx:.*", _if_made("Custom::FileSystemAvailability")),
)
"""Name of the statement, the actions of all that is read as a pattern, and their resources."""
