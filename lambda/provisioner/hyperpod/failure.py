"""Why a HyperPod cluster failed and what to do, in one message."""

from collections.abc import Mapping, Sequence
from typing import Any

from provisioner.framework.errors import ProvisioningError
from provisioner.hyperpod.causes import UNKNOWN
from provisioner.hyperpod.findings import (
    Finding,
    newest_of_each,
    no_cause,
    own_finding,
    shortages,
)
from provisioner.hyperpod.plan import Plan

MOST_FINDINGS = 3


def failure(
    described: Mapping[str, Any],
    findings: Sequence[Finding],
    *,
    what: str | None = None,
    next_step: str | None = None,
) -> ProvisioningError:
    """Return the failure of a cluster.

    Args:
        described: DescribeCluster's answer.
        findings: What its events say, newest first.
        what: What happened to it, after its name. Default: its status.
        next_step: What to do. Default: what suits the cause.
    """
    found = explained(described, findings)
    # What a group or an instance says is nearer to the cause than what is said of the whole.
    near = sorted(found, key=lambda finding: (finding.cause is UNKNOWN, finding.group is None))
    if next_step is None:
        next_step = near[0].next_step(described) if near else no_cause(described)
    what = what or f"is {described['ClusterStatus']}"
    return ProvisioningError(
        f"The HyperPod cluster {described.get('ClusterName')} {what}",
        detail=explanation(described, findings),
        next_step=next_step,
    )


def explained(described: Mapping[str, Any], findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings worth telling, and the cluster's own message among them."""
    kept = newest_of_each(findings)[:MOST_FINDINGS]
    own = own_finding(described)
    if own is not None and not any(own.text.rstrip(". ") in finding.text for finding in kept):
        kept = (own, *kept)
    return kept


def explanation(described: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    """Return causes and shortages as one text."""
    return "; ".join([*map(str, explained(described, findings)), *shortages(described)])


def refusal(cluster_name: str, plan: Plan) -> ProvisioningError:
    """Return the failure for a plan that asks for what cannot be changed."""
    first = plan.refusals[0]
    where = f" of the instance group {first.group}" if first.group else ""
    others = ", ".join(
        f"{refused.what} of {refused.group}" if refused.group else refused.what
        for refused in plan.refusals[1:]
    )
    return ProvisioningError(
        f"{first.what}{where} of the HyperPod cluster {cluster_name} cannot change after creation",
        detail=f"the same holds for {others}" if others else "",
        next_step=first.instead,
    )


def refused_by_service(cluster_name: str, verb: str, error: Exception) -> ProvisioningError:
    """Return the failure of a call that SageMaker refused.

    Args:
        cluster_name: The cluster.
        verb: What was tried: create, update, delete.
        error: SageMaker's answer.
    """
    finding = Finding(text=str(error))
    steps = {"delete": "Remove what it names, then delete the stack again."}
    known = not (finding.cause is UNKNOWN or finding.cause.is_of_nodes or verb in steps)
    return ProvisioningError(
        f"SageMaker refused to {verb} the HyperPod cluster {cluster_name}",
        detail=str(error),
        next_step=(
            finding.next_step({"ClusterName": cluster_name})
            if known
            else steps.get(verb, "Mend what it names, then deploy again.")
        ),
    )
