"""Compute quotas and cluster policies (scheduler configurations): task governance of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page
from emulator.hyperpod.simulation.errors import resource_not_found
from emulator.hyperpod.simulation.state import Cluster, GovernanceObject, cluster_id


@dataclass(frozen=True, slots=True)
class Kind:
    """How the operations on one kind of object name things.

    Attributes:
        noun: The object in operation and member names, such as `ComputeQuota`.
        arn_type: The object in ARNs, such as `compute-quota`.
    """

    noun: str
    arn_type: str


KINDS = (
    Kind(noun="ComputeQuota", arn_type="compute-quota"),
    Kind(noun="ClusterSchedulerConfig", arn_type="cluster-scheduler-config"),
)
CREATED = "Created"
_TARGET = "ComputeQuotaTarget"


class GovernanceOperations:
    """Create, list and delete; what the objects do to workloads is not simulated."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {name: handler for kind in KINDS for name, handler in self._of_kind(kind).items()}

    def _of_kind(self, kind: Kind) -> dict[str, Handler]:
        return {
            f"Create{kind.noun}": lambda call: self._create(call, kind),
            f"List{kind.noun}s": lambda call: self._list(call, kind),
            f"Delete{kind.noun}": lambda call: self._delete(call, kind),
        }

    def _create(self, call: Call, kind: Kind) -> Answer:
        cluster = self._backend.registry.find(call.request["ClusterArn"], call.caller)
        identifier = cluster_id(
            account=call.caller.account,
            region=call.caller.region,
            name=f"{kind.noun} {call.request['Name']}",
            ordinal=len(cluster.governance),
        )
        arn = cluster.arn.rpartition(":")[0] + f":{kind.arn_type}/{identifier}"
        cluster.governance[identifier] = GovernanceObject(
            kind=kind.noun,
            name=call.request["Name"],
            arn=arn,
            created_at=call.now,
            target=call.request.get(_TARGET),
        )
        return {f"{kind.noun}Arn": arn, f"{kind.noun}Id": identifier}

    def _list(self, call: Call, kind: Kind) -> Answer:
        found = [
            _summary(cluster, kind, identifier, item)
            for cluster in self._backend.registry.of(call.caller)
            if call.request.get("ClusterArn") in {None, cluster.arn}
            for identifier, item in cluster.governance.items()
            if item.kind == kind.noun
        ]
        shown, more = page(found, call.request)
        return {f"{kind.noun}Summaries": list(shown), **more}

    def _delete(self, call: Call, kind: Kind) -> Answer:
        identifier = call.request[f"{kind.noun}Id"]
        for cluster in self._backend.registry.of(call.caller):
            item = cluster.governance.get(identifier)
            if item is not None and item.kind == kind.noun:
                del cluster.governance[identifier]
                return {}
        raise resource_not_found(f"{kind.noun} '{identifier}' not found.")


def _summary(
    cluster: Cluster, kind: Kind, identifier: str, item: GovernanceObject
) -> Mapping[str, Any]:
    summary: dict[str, Any] = {
        f"{kind.noun}Arn": item.arn,
        f"{kind.noun}Id": identifier,
        f"{kind.noun}Version": 1,
        "Name": item.name,
        "CreationTime": item.created_at,
        "Status": CREATED,
        "ClusterArn": cluster.arn,
    }
    if item.target is not None:
        summary[_TARGET] = item.target
    return summary
