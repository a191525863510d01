"""`release`: shows why nodes are in quarantine, asks, and takes them out of it.

The chart node-health puts them there: `charts/node-health/files/recurring.py`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import typer
from kubernetes.client import ApiClient, CoreV1Api

from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.nodes.health import (
    QUARANTINE,
    QUARANTINED_BECAUSE,
    node_objects,
    quarantined,
)
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.console import require_consent
from hyperpod_cli.terminal.errors import OpsError


def run(names: Sequence[str], *, chosen: Chosen, yes: bool) -> None:
    """Run the command on instance IDs, or names of Node objects."""
    cluster = chosen.cluster()
    eks_cluster = orchestrator_of(cluster).eks_cluster_name("release")
    connect = partial(kubernetes_api, chosen.session, eks_cluster=eks_cluster)
    with connect() as api:
        there = {
            str(item["metadata"]["name"]): (item, why)
            for item in node_objects(api, cluster=cluster.name)
            if (why := quarantined(item)) is not None
        }
    wanted = [f"hyperpod-{name.removeprefix('hyperpod-')}" for name in dict.fromkeys(names)]
    for name in wanted:
        if name not in there:
            known = ", ".join(there) or "none"
            raise OpsError(
                f"node: {name!r} is not in quarantine in {cluster.name}; these are: {known}"
            )
    for name in wanted:
        typer.echo(f"{name}: {there[name][1]}")
    require_consent("Let jobs run there again?", yes=yes)
    with connect() as api:
        for name in wanted:
            _release(api, there[name][0])
            typer.echo(f"{name}: released")


def _release(api: ApiClient, item: Mapping[str, Any]) -> None:
    metadata = item["metadata"]
    left = [taint for taint in item["spec"]["taints"] if taint["key"] != QUARANTINE]
    # Only if no one has changed the node since, as its list of taints is written as a whole.
    version = metadata["resourceVersion"]
    body = {
        "metadata": {"annotations": {QUARANTINED_BECAUSE: None}, "resourceVersion": version},
        "spec": {"taints": left or None},
    }
    CoreV1Api(api).patch_node(metadata["name"], body, _preload_content=False)
