"""The region has CloudFormation's own type of HyperPod clusters."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, validator

_NATIVE = "AWS::SageMaker::Cluster"


@validator(
    phase=Phase.REGION,
    row="`cluster.resource: native`, and the region has no `AWS::SageMaker::Cluster`",
    source="[DescribeType](https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html)",
    reads=["cloudformation:DescribeType"],
)
def resource_types(config: Config, target: Target) -> Iterator[Problem]:
    """Find a region in which CloudFormation does not have the cluster's own type."""
    if config.cluster.resource != "native":
        return
    cloudformation = target.client("cloudformation")
    try:
        cloudformation.describe_type(Type="RESOURCE", TypeName=_NATIVE)
    except ClientError as refused:
        if refused.response["Error"]["Code"] not in {
            "TypeNotFoundException",
            "TypeNotFound",
        }:
            raise
        message = f"needs {_NATIVE}, which CloudFormation does not have here; set custom"
        command = f"aws cloudformation describe-type --type RESOURCE --type-name {_NATIVE}"
        yield Problem(
            finding=error(("cluster", "resource"), "native", f"{message} or another region"),
            command=command,
        )
