"""ARNs and ids of what a deployment uses, and its own name, account and region."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import Matching, is_token, nearest
from hyperpod_cdk.schema.named_resources import Names

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
    Matching(
        pattern=r"[a-z]([a-z0-9-]*[a-z0-9])?",
        longest=_LONGEST_NAME,
        rule=f"must be 1 to {_LONGEST_NAME} lower-case letters, digits and inner hyphens, with "
        "a letter first: it names stacks and an S3 bucket",
    ),
]

AccountId = Annotated[
    str,
    Matching(
        pattern=r"[0-9]{12}",
        rule='must be the 12 digits of an AWS account, in quotes, such as "111122223333"',
    ),
]


# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_IAM_NAME = r"[A-Za-z0-9_+=,.@-]+"
_IAM_PATH = rf"({_IAM_NAME}/)*"
# The API takes a role without its slash and a plan of any name; policies name both.
RoleArn = Annotated[
    str,
    Matching(
        pattern=rf"arn:aws[a-z-]*:iam::[0-9]{{12}}:role/{_IAM_PATH}{_IAM_NAME}",
        longest=2048,
        rule="must be the ARN of an IAM role, such as arn:aws:iam::111122223333:role/Name",
    ),
    Names("principal"),
    Field(examples=["arn:aws:iam::111122223333:role/Another"]),
]
RoleName = Annotated[
    str,
    Matching(
        pattern=_IAM_NAME,
        longest=64,
        rule="must be the name of an IAM role: 1 to 64 letters, digits and _+=,.@- without a path",
    ),
]
PrincipalArn = Annotated[
    str,
    Matching(
        pattern=rf"arn:aws[a-z-]*:iam::[0-9]{{12}}:(role|user)/{_IAM_PATH}{_IAM_NAME}",
        rule="must be the ARN of an IAM role or user, such as "
        "arn:aws:iam::111122223333:role/Admin (the role's ARN, not that of a session)",
    ),
    Names("principal"),
    Field(examples=["arn:aws:iam::111122223333:role/Another"]),
]
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
_PLAN_NAME = "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}"
_PLAN_PLACE = r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:[0-9]{12}:training-plan/"
TRAINING_PLAN_ARN = _PLAN_PLACE + _PLAN_NAME
"""Pattern of the ARN alone."""
TrainingPlanArn = Annotated[
    str,
    Matching(
        pattern=f"({_PLAN_PLACE})?{_PLAN_NAME}",
        longest=2048,
        rule="must be the name or the ARN of a training plan, such as p5-plan or "
        "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-plan",
    ),
    Names("training plan"),
    Field(examples=["arn:aws:sagemaker:us-west-2:111122223333:training-plan/another-plan"]),
]
KmsKeyArn = Annotated[
    str,
    Matching(
        pattern=r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+",
        rule="must be the ARN of a KMS key, such as "
        "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    ),
    Names("KMS key"),
    Field(examples=["arn:aws:kms:us-west-2:111122223333:key/90abcdef-12ab-34cd-56ef-1234567890ab"]),
]
# An alias would pass the API's pattern, but no IAM policy can be limited to the key behind it.
KmsKeyId = Annotated[
    str,
    Matching(
        pattern=r"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/)?[0-9A-Za-z][0-9A-Za-z-]*",
        longest=2048,
        rule="must be the ID or the ARN of a KMS key (no alias), such as "
        "1234abcd-12ab-34cd-56ef-1234567890ab",
    ),
    Names("KMS key"),
    Field(examples=["arn:aws:kms:us-west-2:111122223333:key/90abcdef-12ab-34cd-56ef-1234567890ab"]),
]
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
EKS_NAME = r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}"
EksClusterArn = Annotated[
    str,
    Matching(
        pattern=rf"arn:aws[a-z-]*:eks:[a-z0-9-]+:[0-9]{{12}}:cluster/{EKS_NAME}",
        rule="must be the ARN of an EKS cluster, such as "
        "arn:aws:eks:us-west-2:111122223333:cluster/mine",
    ),
    Names("EKS cluster"),
    Field(examples=["arn:aws:eks:us-west-2:111122223333:cluster/another"]),
]
OidcProviderArn = Annotated[
    str,
    Matching(
        # https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html
        pattern=r"arn:aws[a-z-]*:iam::[0-9]{12}:oidc-provider/"
        r"oidc\.eks\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/id/[0-9A-F]+",
        rule="must be the ARN of an EKS cluster's IAM OIDC provider, such as "
        "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/"
        "0123456789ABCDEF0123456789ABCDEF",
    ),
    Names("OIDC provider"),
    Field(
        examples=[
            "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/"
            "FEDCBA9876543210FEDCBA9876543210"
        ]
    ),
]
PrometheusWorkspaceArn = Annotated[
    str,
    Matching(
        # https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html
        pattern=r"arn:aws[a-z-]*:aps:[a-z0-9-]+:[0-9]{12}:workspace/[0-9A-Za-z][0-9A-Za-z._-]*",
        rule="must be the ARN of a workspace of Prometheus, such as "
        "arn:aws:aps:us-west-2:111122223333:workspace/ws-1234abcd-12ab-34cd-56ef-1234567890ab",
    ),
    Names("Prometheus workspace"),
    Field(
        examples=[
            "arn:aws:aps:us-west-2:111122223333:workspace/ws-90abcdef-12ab-34cd-56ef-1234567890ab"
        ]
    ),
]
GrafanaWorkspaceArn = Annotated[
    str,
    Matching(
        # https://docs.aws.amazon.com/grafana/latest/APIReference/API_DescribeWorkspace.html
        pattern=r"arn:aws[a-z-]*:grafana:[a-z0-9-]+:[0-9]{12}:/workspaces/g-[0-9a-f]{10}",
        rule="must be the ARN of a workspace of Amazon Managed Grafana, such as "
        "arn:aws:grafana:us-west-2:111122223333:/workspaces/g-0123456789",
    ),
    Names("Grafana workspace"),
    Field(examples=["arn:aws:grafana:us-west-2:111122223333:/workspaces/g-0123abcdef"]),
]

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BUCKET_NAME = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
BucketName = Annotated[
    str,
    Matching(
        pattern=BUCKET_NAME,
        rule="must be the name of an S3 bucket, 3 to 63 lower-case letters, digits, dots and inner "
        "hyphens",
    ),
]
# https://docs.aws.amazon.com/sns/latest/api/API_CreateTopic.html; e-mail takes no FIFO topic.
SnsTopicArn = Annotated[
    str,
    Matching(
        pattern=r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}",
        rule="must be the ARN of an SNS topic that is not FIFO, such as "
        "arn:aws:sns:us-west-2:111122223333:ml-platform",
    ),
    Names("SNS topic"),
    Field(examples=["arn:aws:sns:us-west-2:111122223333:another"]),
]
CapacityReservationGroupArn = Annotated[
    str,
    Matching(
        # https://docs.aws.amazon.com/ARG/latest/APIReference/API_CreateGroup.html
        pattern=r"arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9_.-]+",
        rule="must be the ARN of a resource group of capacity reservations, such as "
        "arn:aws:resource-groups:us-west-2:111122223333:group/p4d",
    ),
    Names("capacity reservations"),
    Field(examples=["arn:aws:resource-groups:us-west-2:111122223333:group/another"]),
]


def _ec2_id(prefix: str, noun: str) -> Matching:
    return Matching(
        pattern=rf"{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?",
        rule=f"must be {noun} such as {prefix}-0123456789abcdef0",
    )


SubnetId = Annotated[
    str, _ec2_id("subnet", "a subnet's ID"), Field(examples=["subnet-0fedcba9876543210"])
]
SecurityGroupId = Annotated[
    str, _ec2_id("sg", "a security group's ID"), Field(examples=["sg-0fedcba9876543210"])
]
VpcId = Annotated[str, _ec2_id("vpc", "the ID of a VPC"), Field(examples=["vpc-0fedcba9876543210"])]
RouteTableId = Annotated[str, _ec2_id("rtb", "a route table's ID")]
NatGatewayId = Annotated[
    str, _ec2_id("nat", "a NAT gateway's ID"), Field(examples=["nat-0fedcba9876543210"])
]
CapacityReservationId = Annotated[
    str,
    _ec2_id("cr", "a capacity reservation's ID"),
    Names("capacity reservations"),
    Field(examples=["cr-0fedcba9876543210"]),
]
InternetGatewayId = Annotated[
    str, _ec2_id("igw", "an internet gateway's ID"), Field(examples=["igw-0fedcba9876543210"])
]


def arn_findings(value: str, *, region: str | None) -> Iterator[Finding]:
    """Find an ARN of another partition or region than the deployment's.

    Args:
        value: The ARN; what is not an ARN is passed over, and so is a part that is a CDK token.
        region: The configured region; None leaves nothing to compare with.
    """
    if region is None or not value.startswith("arn:"):
        return
    _, partition, _, own_region, _ = value.split(":", 4)
    if partition != regions()[region] and not is_token(partition):
        message = f"must be of partition {regions()[region]}, which region {region} belongs to"
        yield Finding(value=value, message=message)
    elif own_region not in ("", region) and not is_token(own_region):  # IAM's ARNs have no region
        yield Finding(value=value, message=f"must be of region {region}, where it is used")
