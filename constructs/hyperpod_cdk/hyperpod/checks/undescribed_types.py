"""Instance types that no public source describes."""

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, warning


def undescribed_types(cluster: ClusterConfig) -> Findings:
    """Find types about which the other rules must be silent.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
    """
    for where, group in cluster.groups_with_paths():
        for path, instance_type in group.types_with_paths():
            if instance_facts(instance_type) is None:
                yield warning(
                    (*where, *path),
                    instance_type,
                    "is not described by a public source: its addresses, pods, EFA interfaces and "
                    "threads per core are not checked",
                )
