"""What is read of what the templates name: before a deployment, and to verify it afterwards."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.managed_policy import MANAGED_POLICY
from hyperpod_cli.aws.assembly import Resource, Value
from hyperpod_cli.inspect.permissions.names import Names, pattern, strings
from hyperpod_cli.inspect.permissions.needs import KEY, KEY_ID

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
_OF_EXISTING_BUCKET = [
    "s3:GetBucketPolicy",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetBucketVersioning",
    "s3:GetEncryptionConfiguration",
    "s3:ListBucket",
]
_OF_OWN_BUCKET = ["s3:GetEncryptionConfiguration", "s3:ListBucket"]
_OF_FILE_SYSTEMS = ["fsx:DescribeDataRepositoryAssociations", "fsx:DescribeFileSystems"]

Look = tuple[str, list[str], list[str]]
"""Name of a statement, its actions and its resources."""


def looks(names: Names, *, eks_cluster: str) -> Iterator[Look]:
    """Yield the rights to look at names, buckets, roles, file systems and the control plane.

    Args:
        names: Names of the deployment's resources.
        eks_cluster: Name of the EKS cluster.
    """
    partition = names.environment.partition
    made = [each for each in names.resources if each.type == "AWS::S3::Bucket"]
    for bucket in made:
        if "BucketName" in bucket.properties:
            name = pattern(bucket.properties["BucketName"], names.environment)
            yield "LookForBucket", _OF_OWN_BUCKET, [f"arn:{partition}:s3:::{name}"]
            yield "LookAtScripts", ["s3:GetObject"], [f"arn:{partition}:s3:::{name}/*"]
    scripts = [each for each in names.resources if each.type == "Custom::LifecycleScripts"]
    existing = [*_named(scripts, "DestinationBucket", names)]
    if existing:
        arns = [f"arn:{partition}:s3:::{bucket}" for bucket in existing]
        yield "LookAtBucket", _OF_EXISTING_BUCKET, arns
    keys = sorted({*_keys(names)})
    if keys:
        yield "LookAtKeys", ["kms:DescribeKey", "kms:GetKeyPolicy"], keys
    if any(each.type == "AWS::EKS::Cluster" for each in names.resources):
        environment = names.environment
        groups = f"arn:{partition}:logs:{environment.region}:{environment.account}:log-group:*"
        yield "LookForLogGroup", ["logs:DescribeLogGroups"], [groups]
    if any(each.type == "AWS::KMS::Alias" for each in names.resources):
        environment = names.environment
        key = f"arn:{partition}:kms:{environment.region}:{environment.account}:key/*"
        yield "LookForAlias", ["kms:DescribeKey", "kms:GetKeyRotationStatus"], [key]
    roles = [each for each in names.resources if each.type == "AWS::IAM::Role"]
    account = f"arn:{partition}:iam::{names.environment.account}"
    for role in _named(roles, "RoleName", names):
        yield "LookForRole", ["iam:GetRole"], [f"{account}:role/{role}"]
    nodes = sorted(_node_roles(names))
    if nodes:
        yield "LookAtRoles", ["iam:GetRole", "iam:SimulatePrincipalPolicy"], nodes
        managed = f"arn:{partition}:iam::aws:policy/{MANAGED_POLICY}"
        yield "LookAtManagedPolicy", ["iam:GetPolicy", "iam:GetPolicyVersion"], [managed]
    if any(each.type == "Custom::FileSystemAvailability" for each in names.resources):
        # FSx limits it to no resource.
        yield "LookAtFileSystems", _OF_FILE_SYSTEMS, ["*"]
    endpoints = [each for each in names.resources if each.type == "AWS::EC2::VPCEndpoint"]
    if any(each.properties.get("VpcEndpointType") == "Interface" for each in endpoints):
        # EC2 limits it to no resource.
        yield "LookForEndpointServices", ["ec2:DescribeVpcEndpointServices"], ["*"]
    if not any(each.type == "AWS::EKS::Cluster" for each in names.resources):
        environment = names.environment
        where = f"arn:{partition}:eks:{environment.region}:{environment.account}"
        yield "LookAtControlPlane", ["eks:ListAccessEntries"], [f"{where}:cluster/{eks_cluster}"]


def _named(resources: list[Resource], key: str, names: Names) -> Iterator[str]:
    """Yield the values of a property that are the whole of a name."""
    for resource in resources:
        name = pattern(resource.properties.get(key), names.environment)
        if "*" not in name:
            yield name


def _node_roles(names: Names) -> Iterator[str]:
    """Yield the ARNs of roles that nodes run as and no template makes."""
    passed = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    for statement in _statements(names):
        if statement.get("Condition") == passed:
            yield from _roles(statement["Resource"], names)
    for resource in names.resources:
        if resource.type == "AWS::SageMaker::Cluster":
            for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
                for group in resource.properties.get(kind, ()):
                    yield from _roles(group["ExecutionRole"], names)


def _keys(names: Names) -> Iterator[str]:
    """Yield the ARNs of KMS keys that no template makes."""
    environment = names.environment
    where = f"arn:{environment.partition}:kms:{environment.region}:{environment.account}"
    for resource in names.resources:
        for text in strings(resource.properties, environment):
            if KEY.fullmatch(text) and "*" not in text:
                yield text
            elif KEY_ID.fullmatch(text):
                yield f"{where}:key/{text}"


def _statements(names: Names) -> Iterator[Value]:
    for resource in names.resources:
        if resource.type == "AWS::IAM::Policy":
            yield from resource.properties["PolicyDocument"]["Statement"]


def _roles(value: Value, names: Names) -> Iterator[str]:
    found = [value] if isinstance(value, str) else [*strings(value, names.environment)]
    yield from (arn for arn in found if ":role/" in arn and "*" not in arn)
