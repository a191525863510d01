"""The HyperPod clusters of deployments."""

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_ops.aws_client import AwsClient
from provisioner.framework.owner import STACK_TAG

# CloudFormation tags its own resources.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html
_STACK_TAGS = (STACK_TAG, "aws:cloudformation:stack-id")


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCluster:
    """A HyperPod cluster that a stack made.

    Attributes:
        name: Its name.
        status: Its status.
        stack: Name of the stack.
    """

    name: str
    status: str
    stack: str


def own_clusters(sagemaker: AwsClient) -> list[ListedCluster]:
    """Return the clusters of a region that stacks made, by name.

    Args:
        sagemaker: Client of SageMaker.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    return sorted(_found(sagemaker), key=lambda cluster: cluster.name)


def _found(sagemaker: AwsClient) -> Iterator[ListedCluster]:
    for page in sagemaker.get_paginator("list_clusters").paginate():
        for summary in page["ClusterSummaries"]:
            stack = _stack(sagemaker, arn=summary["ClusterArn"])
            if stack is not None:
                yield ListedCluster(
                    name=summary["ClusterName"], status=summary["ClusterStatus"], stack=stack
                )


def _stack(sagemaker: AwsClient, *, arn: str) -> str | None:
    for page in sagemaker.get_paginator("list_tags").paginate(ResourceArn=arn):
        for tag in page["Tags"]:
            if tag["Key"] in _STACK_TAGS:
                return str(tag["Value"].split("/")[1])
    return None
