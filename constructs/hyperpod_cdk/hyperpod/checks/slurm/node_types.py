"""Which groups are the controller, the login nodes and the compute nodes."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_shared.clusters import COMPUTE, CONTROLLER, LOGIN


def node_types(cluster: ClusterConfig) -> Findings:
    """Find groups without a type, and more or fewer of a type than HyperPod takes.

    One group is the controller, of one node that is not taken away, and at most one has login
    nodes, of which a cluster with continuous provisioning waits for one.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
    """
    first: dict[str, str] = {}
    for where, group in cluster.instance_groups_with_paths():
        place = (*where, "slurm", "node_type")
        if group.slurm is None:
            message = f"is missing: write {CONTROLLER}, {LOGIN} or {COMPUTE}"
            yield error(place, None, message)
            continue
        kind = group.slurm.node_type
        if kind != COMPUTE and kind in first:
            message = f"is already the type of {first[kind]}: a Slurm cluster has one such group"
            yield error(place, kind, message)
        first.setdefault(kind, group.name)
        if kind == CONTROLLER and group.instance_count != 1:
            message = "must be 1: one node of the cluster is the controller"
            yield error((*where, "instance_count"), group.instance_count, message)
        if kind == CONTROLLER and group.is_spot:
            message = "must be OnDemand: with the controller, the queue and all jobs would go"
            yield error((*where, "capacity"), group.capacity, message)
        if kind == LOGIN and group.instance_count < 1 and cluster.is_continuous:
            message = "must be 1 or more: the cluster is in service once a login node is"
            yield error((*where, "instance_count"), group.instance_count, message)
    if CONTROLLER not in first and all(group.slurm for group in cluster.instance_groups):
        message = f"must have a group with slurm.node_type {CONTROLLER}, of one node"
        names = [group.name for group in cluster.instance_groups]
        yield error(("cluster", "instance_groups"), names, message)
