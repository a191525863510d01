"""Waiting for HyperPod's nodes: a Continuous cluster is in service before it has any."""

import time

from hyperpod_cdk import Config
from rehearsal.aws_clients import AwsClients

_LONGEST_SECONDS = 60.0
_PAUSE_SECONDS = 0.2


def wanted_nodes(config: Config) -> int:
    """Return how many nodes the configuration asks for."""
    return sum(group.instance_count for group in config.cluster.all_groups)


def running_nodes(config: Config, *, clients: AwsClients) -> int:
    """Return how many nodes run; 0 when there is no cluster."""
    clusters = clients("sagemaker").list_clusters()["ClusterSummaries"]
    if config.cluster.name not in [cluster["ClusterName"] for cluster in clusters]:
        return 0
    pages = clients("sagemaker").get_paginator("list_cluster_nodes")
    nodes = [
        node
        for page in pages.paginate(ClusterName=config.cluster.name)
        for node in page["ClusterNodeSummaries"]
    ]
    return sum(node["InstanceStatus"]["Status"] == "Running" for node in nodes)


def wait_for_nodes(config: Config, *, clients: AwsClients) -> None:
    """Return when all nodes run, or after a minute: the checks then say what is missing."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    while running_nodes(config, clients=clients) < wanted_nodes(config):
        if time.monotonic() > deadline:
            return
        time.sleep(_PAUSE_SECONDS)
