"""What nodes with security groups of their own have to reach lets them in."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def own_security_groups(config: Config) -> Findings:
    """Find groups whose nodes are not in the security group that all else here is in.

    The control plane, file systems and other nodes let in their own group.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    shared = config.network.security_group_id
    for path, group in config.cluster.groups_with_paths():
        ids = () if group.override_vpc is None else group.override_vpc.security_group_ids
        if ids and shared not in ids:
            message = (
                "leave the nodes out of the deployment's security group, which the control plane, "
                "file systems and other nodes let in: "
            )
            remedy = (
                f"add {shared}, or let these into it"
                if shared
                else "let these into it (SecurityGroupId of the platform stack), or leave them out"
            )
            place = (*path, "override_vpc", "security_group_ids")
            yield warning(place, list(ids), message + remedy)
