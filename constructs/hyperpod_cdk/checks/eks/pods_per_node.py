"""A node has room for the pods that all nodes run."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.daemon_sets import daemon_sets, room_for_pods
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.schema.errors import Findings, error, warning


def pods_per_node(config: Config) -> Findings:
    """Find types whose nodes cannot run every DaemonSet, or nothing else.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """
    for where, group in config.cluster.groups_with_paths():
        for path, instance_type in group.types_with_paths():
            facts = instance_facts(instance_type)
            room = 1 if facts is None else room_for_pods(facts, config=config)
            if facts is None or room > 0:
                continue
            sets = daemon_sets(facts, config=config)
            pods = f"has room for {facts.max_pods} pods, and {len(sets)} DaemonSets"
            names = ", ".join(sets)
            if room < 0:
                yield error(
                    (*where, *path), instance_type, f"{pods} need one each ({names}); take a larger"
                )
            else:
                message = f"{pods} take one each ({names}): no other pod fits; take a larger"
                yield warning((*where, *path), instance_type, message)
