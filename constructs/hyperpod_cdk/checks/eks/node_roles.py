"""Roles of nodes are nobody else's in the Kubernetes cluster."""

from collections.abc import Sequence

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, KeyPath, error


def node_roles(config: Config) -> Findings:
    """Find roles of nodes that get an access entry of users, too.

    A principal has one entry, whose type stays; HyperPod makes that of nodes, HYPERPOD_LINUX.
    https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    """
    eks, cluster = config.eks, config.cluster
    roles = {group.execution_role_arn or cluster.execution_role_arn for group in cluster.all_groups}
    lists: list[tuple[KeyPath, Sequence[str]]] = [
        (("eks", "admins"), eks.admins),
        (("eks", "viewers"), eks.viewers),
        *(
            (("eks", "editors", index, "principals"), each.principals)
            for index, each in enumerate(eks.editors)
        ),
        *(
            (("teams", index, key), getattr(each, key))
            for index, each in enumerate(config.teams)
            for key in ("editors", "viewers")
        ),
    ]
    for path, principals in lists:
        for index, arn in enumerate(principals):
            if arn in roles or arn.partition(":role/")[2] == cluster.execution_role_name:
                message = (
                    "is a role that nodes run as, and EKS takes a principal once; take another"
                )
                yield error((*path, index), arn, message)
