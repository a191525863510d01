"""The region has HyperPod, and the resource types of its clusters."""

from collections.abc import Iterator

from botocore.exceptions import ClientError, EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.validator import Place, Problem

_NATIVE = "AWS::SageMaker::Cluster"


def hyperpod_api(_config: Config, place: Place) -> Iterator[Problem]:
    """Find a region without the API of HyperPod, by a call that lists clusters.

    SageMaker answers an operation that a region does not have with UnknownOperationException.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html
    """
    try:
        place.client("sagemaker").list_clusters(MaxResults=1)
    except EndpointConnectionError:
        is_there = False
    except ClientError as refused:
        if refused.response["Error"]["Code"] not in {"UnknownOperationException", "InvalidAction"}:
            raise
        is_there = False
    else:
        is_there = True
    if not is_there:
        message = "does not answer for SageMaker HyperPod; deploy to a region that has it"
        yield Problem(
            finding=error(("region",), place.region, message), command="aws sagemaker list-clusters"
        )


def resource_types(config: Config, place: Place) -> Iterator[Problem]:
    """Find a region in which CloudFormation does not have the cluster's own type.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html
    """
    if config.cluster.resource != "native":
        return
    cloudformation = place.client("cloudformation")
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
