"""Groups of HyperPod and of EKS have names of their own."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def group_names(config: Config) -> Findings:
    """Find node groups that are called as an instance group is.

    AWS takes it, but commands, such as `hyperpod-cdk train --group`, and what they show tell groups
    by their names.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
    """
    taken = {group.name for group in config.cluster.all_groups}
    for index, group in enumerate(config.node_groups):
        if group.name in taken:
            message = "is already the name of an instance group of the cluster; names must differ"
            yield error(("node_groups", index, "name"), group.name, message)
