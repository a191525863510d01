"""EKS has room for the node groups."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning

_QUOTA = 30


def node_group_count(config: Config) -> Findings:
    """Find more node groups than an EKS cluster has without a raised quota.

    https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
    """
    count = len(config.node_groups)
    if count > _QUOTA:
        yield warning(
            ("node_groups",),
            count,
            f"groups are more than EKS's quota of {_QUOTA} a cluster, unless yours is raised; "
            "raise it in Service Quotas, or list fewer",
        )
