"""ARNs and ids of what a deployment uses, and its own name, account and region."""

from typing import Annotated

from pydantic import AfterValidator, Field

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.errors import Finding, Findings
from hyperpod_cdk.schema.limits import Message, is_token, nearest
from hyperpod_cdk.schema.named_resources import Kind, Names

# The bucket sagemaker-<name>-<12-digit account>-<region> must fit into S3's 63 characters.
_LONGEST_NAME = 20


def _region(value: str) -> str:
    if value not in regions():
        hint = nearest(value, known=regions())
        raise ValueError(f"is not an AWS region{hint} (an example: us-west-2)")
    return value


Region = Annotated[str, AfterValidator(_region)]

DeploymentName = Annotated[
    str,
    Field(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=_LONGEST_NAME),
    Message(
        f"must be 1 to {_LONGEST_NAME} lower-case letters, digits and inner hyphens, with "
        "a letter first: it names stacks and an S3 bucket"
    ),
]

AccountId = Annotated[
    str,
    Field(pattern=r"^[0-9]{12}$"),
    Message('must be the 12 digits of an AWS account, in quotes, such as "111122223333"'),
]


def _named(
    kind: Kind, what: str, pattern: str, *examples: str, longest: int | None = None
) -> tuple[object, ...]:
    """Return the marks of a text that names something of an account.

    The first example ends the sentence about a wrong text, and the other one is for the schema.
    """
    rule = f"must be {what}, such as {examples[0]}"
    another = Field(examples=[*examples[1:]])
    return Field(pattern=rf"^{pattern}$", max_length=longest), Message(rule), Names(kind), another


def _arn_pattern(service: str, resource: str) -> str:
    place = "" if service == "iam" else "[a-z0-9-]+"
    return f"arn:aws[a-z-]*:{service}:{place}:[0-9]{{12}}:{resource}"


def _arn(
    kind: Kind, what: str, service: str, resource: str, *examples: str, longest: int | None = None
) -> tuple[object, ...]:
    """Return the marks of an ARN as `_named` does; what is given is its last part."""
    place = f"arn:aws:{service}:{'' if service == 'iam' else 'us-west-2'}:111122223333"
    arns = [f"{place}:{each}" for each in examples]
    pattern = _arn_pattern(service, resource)
    return _named(kind, f"the ARN of {what}", pattern, *arns, longest=longest)


# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_IAM_NAME = r"[A-Za-z0-9_+=,.@-]+"
_IAM_PATH = rf"({_IAM_NAME}/)*"
_ROLE, _PRINCIPAL = (rf"{kind}/{_IAM_PATH}{_IAM_NAME}" for kind in ("role", "(role|user)"))
_ADMIN, _ANOTHER = "role/Admin (the role's ARN, not that of a session)", "role/Another"
# The API takes a role without its slash and a plan of any name; policies name both.
RoleArn = Annotated[
    str, *_arn("role", "an IAM role", "iam", _ROLE, "role/Name", _ANOTHER, longest=2048)
]
RoleName = Annotated[
    str,
    Field(pattern=rf"^{_IAM_NAME}$", max_length=64),
    Message("must be the name of an IAM role: 1 to 64 letters, digits and _+=,.@- without a path"),
]
PrincipalArn = Annotated[
    str, *_arn("principal", "an IAM role or user", "iam", _PRINCIPAL, _ADMIN, _ANOTHER)
]
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
_PLAN_NAME = "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}"
_PLAN_PLACE = _arn_pattern("sagemaker", "training-plan/")
TRAINING_PLAN_ARN = _PLAN_PLACE + _PLAN_NAME
"""Pattern of the ARN alone."""
_PLANS = "arn:aws:sagemaker:us-west-2:111122223333:training-plan"
TrainingPlanArn = Annotated[
    str,
    *_named(
        "training plan",
        "the name or the ARN of a training plan",
        f"({_PLAN_PLACE})?{_PLAN_NAME}",
        f"p5-plan or {_PLANS}/p5-plan",
        f"{_PLANS}/another-plan",
        longest=2048,
    ),
]
_KEY, _ANOTHER_KEY = "1234abcd-12ab-34cd-56ef-1234567890ab", "90abcdef-12ab-34cd-56ef-1234567890ab"
KmsKeyArn = Annotated[
    str,
    *_arn("KMS key", "a KMS key", "kms", "key/[A-Za-z0-9-]+", f"key/{_KEY}", f"key/{_ANOTHER_KEY}"),
]
# An alias would pass the API's pattern, but no IAM policy can be limited to the key behind it.
KmsKeyId = Annotated[
    str,
    *_named(
        "KMS key",
        "the ID or the ARN of a KMS key (no alias)",
        f"({_arn_pattern('kms', 'key/')})?[0-9A-Za-z][0-9A-Za-z-]*",
        _KEY,
        f"arn:aws:kms:us-west-2:111122223333:key/{_ANOTHER_KEY}",
        longest=2048,
    ),
]
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
EKS_NAME = r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}"
_CLUSTERS = ("cluster/mine", "cluster/another")
EksClusterArn = Annotated[
    str, *_arn("EKS cluster", "an EKS cluster", "eks", f"cluster/{EKS_NAME}", *_CLUSTERS)
]
_ISSUERS = "oidc-provider/oidc.eks.us-west-2.amazonaws.com/id"
OidcProviderArn = Annotated[
    str,
    *_arn(
        "OIDC provider",
        "an EKS cluster's IAM OIDC provider",
        "iam",
        # https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html
        r"oidc-provider/oidc\.eks\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/id/[0-9A-F]+",
        f"{_ISSUERS}/0123456789ABCDEF0123456789ABCDEF",
        f"{_ISSUERS}/FEDCBA9876543210FEDCBA9876543210",
    ),
]
# https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html
PrometheusWorkspaceArn = Annotated[
    str,
    *_arn(
        "Prometheus workspace",
        "a workspace of Prometheus",
        "aps",
        "workspace/[0-9A-Za-z][0-9A-Za-z._-]*",
        *(f"workspace/ws-{key}" for key in (_KEY, _ANOTHER_KEY)),
    ),
]
GrafanaWorkspaceArn = Annotated[
    str,
    *_arn(
        "Grafana workspace",
        "a workspace of Amazon Managed Grafana",
        "grafana",
        # https://docs.aws.amazon.com/grafana/latest/APIReference/API_DescribeWorkspace.html
        "/workspaces/g-[0-9a-f]{10}",
        *("/workspaces/g-0123456789", "/workspaces/g-0123abcdef"),
    ),
]
# https://docs.aws.amazon.com/sns/latest/api/API_CreateTopic.html; e-mail takes no FIFO topic.
_TOPIC, _TOPICS = "an SNS topic that is not FIFO", ("ml-platform", "another")
SnsTopicArn = Annotated[str, *_arn("SNS topic", _TOPIC, "sns", "[A-Za-z0-9_-]{1,256}", *_TOPICS)]
# https://docs.aws.amazon.com/ARG/latest/APIReference/API_CreateGroup.html
_GROUP, _GROUPS = "a resource group of capacity reservations", ("group/p4d", "group/another")
CapacityReservationGroupArn = Annotated[
    str,
    *_arn("capacity reservations", _GROUP, "resource-groups", "group/[A-Za-z0-9_.-]+", *_GROUPS),
]


def path_part(letters: str) -> str:
    """Return the pattern of a part of a path, of letters and dots, which is neither . nor .. ."""
    return rf"(\.?\.?[{letters}][.{letters}]*|\.\.\.[.{letters}]*)"


# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BUCKET_NAME = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
BucketName = Annotated[
    str,
    Field(pattern=rf"^{BUCKET_NAME}$"),
    Message("must be the name of an S3 bucket: 3 to 63 of a-z, 0-9, dots and inner hyphens"),
    Names("bucket"),
]


def _id(kind: Kind, prefix: str, article: str = "a") -> tuple[object, ...]:
    rule = (
        f"must be the ID of {article} {kind.removesuffix('s')} such as {prefix}-0123456789abcdef0"
    )
    return (
        Field(pattern=rf"^{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?$"),
        Message(rule),
        Names(kind),
        Field(examples=[f"{prefix}-0fedcba9876543210"]),
    )


SubnetId = Annotated[str, *_id("subnet", "subnet")]
SecurityGroupId = Annotated[str, *_id("security group", "sg")]
VpcId = Annotated[str, *_id("VPC", "vpc")]
RouteTableId = Annotated[str, *_id("route table", "rtb")[:3]]
NatGatewayId = Annotated[str, *_id("NAT gateway", "nat")]
CapacityReservationId = Annotated[str, *_id("capacity reservations", "cr")]
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
PlacementGroupName = Annotated[
    str,
    *_named("placement group", "the name of a placement group", "[ -~]{1,255}", "training", "near"),
]
InternetGatewayId = Annotated[str, *_id("internet gateway", "igw", "an")]
FileSystemId = Annotated[str, *_id("file system", "fs")]


def arn_findings(value: str, *, region: str | None) -> Findings:
    """Find an ARN of another partition or region than the deployment's, if that is configured.

    What is not an ARN is passed over, and so is a part that is a CDK token.
    """
    if region is None or not value.startswith("arn:"):
        return
    _, partition, _, own_region, _ = value.split(":", 4)
    if partition != regions()[region] and not is_token(partition):
        message = f"must be of partition {regions()[region]}, which region {region} belongs to"
        yield Finding(value=value, message=message)
    elif own_region not in ("", region) and not is_token(own_region):  # IAM's ARNs have no region
        yield Finding(value=value, message=f"must be of region {region}, where it is used")
