"""The HyperPod clusters that CloudFormation stacks made."""

from dataclasses import dataclass

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.operate.clusters.pages import pages
from hyperpod_shared.aws_errors import is_denied, is_not_found
from hyperpod_shared.owner import STACK_TAG

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

    Clusters whose tags the caller may not read, as of another team, are passed over, and so are
    those that are deleted meanwhile.

    Args:
        sagemaker: Client of SageMaker.

    Raises:
        ClientError: AWS refused to say, of any cluster at all.
        BotoCoreError: AWS could not be asked.
    """
    found, denied, is_any_read = [], None, False
    for page in pages(sagemaker, "list_clusters"):
        for summary in page["ClusterSummaries"]:
            try:
                stack = _stack(sagemaker, arn=summary["ClusterArn"])
            except ClientError as error:
                if is_denied(error):
                    denied = error
                elif not is_not_found(error):
                    raise
                continue
            is_any_read = True
            if stack is not None:
                name, status = summary["ClusterName"], summary["ClusterStatus"]
                found.append(ListedCluster(name=name, status=status, stack=stack))
    if denied is not None and not is_any_read:
        raise denied
    return sorted(found, key=lambda cluster: cluster.name)


def _stack(sagemaker: AwsClient, *, arn: str) -> str | None:
    for page in pages(sagemaker, "list_tags", ResourceArn=arn):
        for tag in page.get("Tags", ()):
            if tag["Key"] in _STACK_TAGS:
                return str(tag["Value"].split("/")[1])
    return None
