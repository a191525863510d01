"""The region has HyperPod."""

from collections.abc import Iterator

from botocore.exceptions import ClientError, EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, validator


@validator(
    phase=Phase.REGION,
    row="the region does not answer for HyperPod",
    source="[errors](https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html)",
    reads=["sagemaker:ListClusters"],
)
def hyperpod_api(_config: Config, target: Target) -> Iterator[Problem]:
    """Find a region without the API of HyperPod, by a call that lists clusters.

    SageMaker answers an operation that a region does not have with UnknownOperationException.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html
    """
    try:
        target.client("sagemaker").list_clusters(MaxResults=1)
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
            finding=error(("region",), target.region, message),
            command="aws sagemaker list-clusters",
        )
