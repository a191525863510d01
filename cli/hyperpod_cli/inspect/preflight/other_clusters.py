"""The account's other HyperPod clusters."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.validator import Place
from hyperpod_cli.operate.clusters.pages import pages
from hyperpod_shared.aws_errors import is_not_found


def other_clusters(config: Config, place: Place) -> Iterator[Mapping[str, Any]]:
    """Yield the clusters of the region besides the configuration's own, as SageMaker tells them.

    One that is deleted after it was listed is passed over.
    """
    client = place.client("sagemaker")
    for page in pages(client, "list_clusters"):
        for summary in page["ClusterSummaries"]:
            name = summary["ClusterName"]
            if name == config.cluster.name:
                continue
            try:
                # SageMaker need not tell the name again.
                yield {"ClusterName": name, **client.describe_cluster(ClusterName=name)}
            except ClientError as gone:
                if not is_not_found(gone):
                    raise
