"""Looks how far the nodes of a cluster have come."""

from dataclasses import replace

from provisioner.aws.errors import AWS_ERRORS
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.claim import visible_claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.events import HyperPodEvents
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.groups import groups_of
from provisioner.hyperpod.statuses import ClusterStatus

_MOST_NODES = 2000
"""How many nodes a poll can list."""
# A request that concerns no node tells what it finds, and why that came to be.
_HINDSIGHT_SECONDS = 3600.0


def look(
    found: Found, request: ClusterRequest, *, api: HyperPodApi, events: HyperPodEvents
) -> Arrivals:
    """Return how far the nodes have come; where they are not known, the description counts.

    Args:
        found: What there is.
        request: CloudFormation's request; errors since it began are told.
        api: Lists the nodes.
        events: Tells what went wrong, if anything is short.
    """
    groups, nodes = groups_of(found.described), None
    works = found.status == ClusterStatus.IN_SERVICE
    if works and 0 < sum(group.get("TargetCount", 0) for group in groups.values()) <= _MOST_NODES:
        try:
            nodes = api.nodes()
        except AWS_ERRORS as error:
            log.warning("no nodes", cluster=api.name, cause=str(error))
    arrivals = Arrivals(nodes=nodes)
    if works and not any(arrivals.is_short(name, group) for name, group in groups.items()):
        return arrivals
    claim = visible_claim(found.tags)
    concerns_nodes = request.makes_a_cluster or bool(claim and claim.last_call)
    since = request.claim.started_at - (0.0 if concerns_nodes else _HINDSIGHT_SECONDS)
    errors = events.errors(found.described, since=since)
    return replace(arrivals, failures=errors.failures, attempts=errors.attempts)
