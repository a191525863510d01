"""Somebody who works on the cluster between two deployments."""

from collections import Counter
from random import Random

from botocore.exceptions import ClientError

from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, act
from hyperpod_rehearsal.change.nodes import scale, settled
from hyperpod_rehearsal.lives.stage import LifeStage
from hyperpod_shared.clusters import awaits_plan, groups_of

_SCALES, _PATCHES = "scales", "patches"
_BY_NAME = {each.name: each for each in (DELETE, REBOOT, REPLACE)}


def operate(stage: LifeStage, *, random: Random) -> tuple[str, dict[str, int]]:
    """Act on a group that has nodes; return in words what, and how many nodes the groups have.

    A group that waits for its training plan is left out.

    HyperPod may refuse it, as it would an operator.
    """
    sagemaker, cluster = stage.environment.clients("sagemaker"), stage.config.cluster.name
    nodes = sorted(stage.nodes(), key=lambda node: (node.group, node.id))
    if not nodes:
        return "nothing: there are no nodes", {}
    group = random.choice(sorted({node.group for node in nodes}))
    # The last node stays: what runs on nodes would have none.
    left = [each for each in _BY_NAME if each != DELETE.name or len(nodes) > 1]
    action = random.choice([_SCALES, _PATCHES, *left])
    said = f"{action} {group}"
    try:
        if action == _SCALES:
            described = sagemaker.describe_cluster(ClusterName=cluster)
            scale(sagemaker, described, {group: sum(node.group == group for node in nodes) + 1})
        elif action == _PATCHES:
            sagemaker.update_cluster_software(ClusterName=cluster)
        else:
            node = next(node.id for node in nodes if node.group == group)
            refused = act(sagemaker, _BY_NAME[action], cluster=cluster, ids=[node])
            said += ", which HyperPod refuses" if refused else ""
    except ClientError as error:
        said += f", which HyperPod refuses: {error.response['Error']['Message']}"
    counts = Counter(node.group for node in settled(stage.environment.clients, cluster))
    groups = groups_of(sagemaker.describe_cluster(ClusterName=cluster))
    return said, {name: counts[name] for name in groups if not awaits_plan(groups[name])}
