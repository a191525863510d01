"""Only types with EFA have EFA interfaces."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error


def efa_interfaces(cluster: ClusterConfig) -> Findings:
    """Find groups that ask for EFA interfaces on a type without EFA.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types
    """
    for where, group in cluster.instance_groups_with_paths():
        if group.network_interface_type is None:
            continue
        without = [facts.instance_type for facts in group.facts if not facts.efa_interfaces]
        if without:
            yield error(
                (*where, "network_interface_type"),
                group.network_interface_type,
                f"needs a type with EFA, which {', '.join(without)} is not; leave the key out",
            )
