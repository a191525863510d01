"""Lists of SageMaker, with as few calls as it takes."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cli.aws.session import AwsClient

# The most that operations on clusters return in a page. How many they return by themselves, AWS
# does not say; most other lists of SageMaker return 10.
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListClusterNodes.html
_PAGE = 100


def pages(
    sagemaker: AwsClient,
    operation: str,
    **asked: object,
) -> Iterator[Mapping[str, Any]]:
    """Yield the pages of a list.

    Args:
        sagemaker: Client of SageMaker.
        operation: The operation, by boto3's name of it.
        asked: Its request.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    yield from sagemaker.get_paginator(operation).paginate(
        **asked, PaginationConfig={"PageSize": _PAGE}
    )
