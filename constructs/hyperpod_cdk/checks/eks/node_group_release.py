"""The AMI of a node group is of the cluster's Kubernetes version."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.kubernetes_support import minor
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK
from hyperpod_cdk.schema.errors import Findings, error


def node_group_release(config: Config) -> Findings:
    """Find releases of EKS's AMIs of another Kubernetes version than the control plane's.

    EKS updates a group to the version of its cluster, and refuses a release of another one. A group
    in a Capacity Block keeps the version that it is of when the control plane gets a later one.

    https://docs.aws.amazon.com/eks/latest/userguide/update-managed-node-group.html
    """
    for index, group in enumerate(config.node_groups):
        release, version = group.release_version, config.eks.version
        if release is None or release.startswith(f"{version}."):
            continue
        if group.capacity != CAPACITY_BLOCK or minor(release) > minor(version):
            yield error(
                ("node_groups", index, "release_version"),
                release,
                f"must be of Kubernetes {version}, as eks.version is, such as {version}.0-20251112",
            )
