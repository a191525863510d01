"""The region has HyperPod."""

from botocore.exceptions import EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(phase=Phase.REGION, of_hyperpod=True, iam=["sagemaker:ListClusters"])
def hyperpod_api(_config: Config, target: Target) -> Problems:
    """HyperPod is not available in the region.

    SageMaker answers an operation that a region does not have with UnknownOperationException.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html

    Keys: region

    [errors](https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html)
    """
    absent = ("UnknownOperationException", "InvalidAction")
    try:
        answer = answer_of(target.client("sagemaker").list_clusters, *absent, MaxResults=1)
    except EndpointConnectionError:
        answer = None
    if answer is None:
        message = "does not answer for SageMaker HyperPod; deploy to a region that has it"
        yield error(("region",), target.region, message), "aws sagemaker list-clusters"
