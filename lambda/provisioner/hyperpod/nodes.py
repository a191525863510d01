"""Looks how far the nodes of a cluster have come."""

from dataclasses import replace

from hyperpod_shared.aws_errors import AWS_ERRORS, code, is_denied, is_not_found
from hyperpod_shared.clusters import ClusterStatus, groups_of
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.claim import visible_claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.events import HyperPodEvents
from provisioner.hyperpod.found import Found

_MOST_NODES = 2000
"""How many nodes a poll can list."""
# A request that concerns no node tells what it finds, and why that came to be.
_HINDSIGHT_SECONDS = 3600.0


def look(
    found: Found,
    request: ClusterRequest,
    *,
    api: HyperPodApi,
    events: HyperPodEvents,
    last: bool,
) -> Arrivals:
    """Return how far the nodes have come; where they are not known, the description counts.

    The description may count nodes whose lifecycle script still runs, so it does not stand in for
    a list that another poll may get.

    Args:
        found: What there is.
        request: CloudFormation's request; errors since it began are told.
        api: Lists the nodes.
        events: Tells what went wrong, if anything is short.
        last: Whether no poll follows that could list the nodes.

    Raises:
        ClientError: Another poll may list the nodes.
        BotoCoreError: Another poll may list the nodes.
    """
    groups, arrivals = groups_of(found.described), Arrivals()
    works = found.status == ClusterStatus.IN_SERVICE
    if works and 0 < sum(group.get("TargetCount", 0) for group in groups.values()) <= _MOST_NODES:
        try:
            arrivals = Arrivals(nodes=api.nodes(patient=last))
        except AWS_ERRORS as error:
            if not last and (is_not_found(error) or request.may_pass(error, found.now)):
                raise
            arrivals = Arrivals(unlisted=_unlisted(api.name, error))
            log.warning("no nodes", cluster=api.name, cause=str(error))
    if works and not any(arrivals.is_short(name, group) for name, group in groups.items()):
        return arrivals
    claim = visible_claim(found.tags)
    concerns_nodes = request.makes_a_cluster or bool(claim and claim.last_call)
    since = request.claim.started_at - (0.0 if concerns_nodes else _HINDSIGHT_SECONDS)
    errors = events.errors(found.described, since=since)
    return replace(arrivals, failures=errors.failures, attempts=errors.attempts)


def _unlisted(name: str, error: Exception) -> str:
    why = code(error) or type(error).__name__
    if is_denied(error):
        next_step = "Allow the provisioner's role sagemaker:ListClusterNodes, then deploy again"
    else:
        next_step = f"Look again (aws sagemaker list-cluster-nodes --cluster-name {name})"
    return (
        f"the nodes could not be listed ({why}), so nodes may be missing that DescribeCluster "
        f"counts. {next_step}"
    )
