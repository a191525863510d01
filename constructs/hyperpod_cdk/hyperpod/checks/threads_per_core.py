"""Threads per core fit the instance type."""

from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, warning

_ALL = 2


def threads_per_core(cluster: ClusterConfig) -> Findings:
    """Find thread counts that a type does not have, and accelerated types with half their vCPUs.

    Data loading and collective communication run on the vCPUs: the HyperPod samples give G5, P4
    and P5 two threads a core.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cpu-options-supported-instances-values.html
    """
    for where, group in cluster.groups_with_paths():
        if group.threads_per_core is not None:
            path = (*where, "threads_per_core")
            yield from _findings(group, threads=group.threads_per_core, path=path)


def _findings(group: NodeGroupConfig, *, threads: int, path: KeyPath) -> Findings:
    for facts in group.facts:
        valid = facts.valid_threads_per_core
        if threads not in valid:
            allowed = " or ".join(str(number) for number in valid)
            why = "it has no multithreading" if valid == (1,) else "EC2 offers no other"
            yield error(path, threads, f"must be {allowed} for {facts.instance_type}: {why}")
        elif facts.accelerator and threads < _ALL <= max(valid):
            usable = facts.vcpus // facts.default_threads_per_core
            yield warning(
                path,
                threads,
                f"leaves {usable} of the {facts.vcpus} vCPUs of {facts.instance_type} in use; "
                "accelerated types usually want 2",
            )
