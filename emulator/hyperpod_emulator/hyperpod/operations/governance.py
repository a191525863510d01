"""Task governance: cluster policies and compute quotas, with their versions and statuses.

What they do to workloads is not simulated. Members and errors are botocore's; that versions make
conflicts, and that a cluster has one policy, is said by
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
and by the schemas of the CloudFormation types. What is not said: what follows a change of an object
that is at work, which is a conflict here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperpod_emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page
from hyperpod_emulator.hyperpod.simulation.errors import (
    conflict,
    resource_not_found,
    validation_error,
)
from hyperpod_emulator.hyperpod.simulation.state import Cluster, GovernanceObject, cluster_id

_TARGET = "ComputeQuotaTarget"
_CREATED, _UPDATED, _DELETING = "Created", "Updated", "Deleting"
_AT_WORK = frozenset({"Creating", "Updating", _DELETING})
_NOT_READY = (
    'Internal error occurred: failed calling webhook "mclusterqueue.kb.io": no endpoints available '
    'for service "kueue-webhook-service"'
)
_MIB = 1024


@dataclass(frozen=True, slots=True)
class Kind:
    """How the operations on one kind of object name things.

    Attributes:
        noun: The object in operation and member names, such as `ComputeQuota`.
        arn_type: The object in ARNs, such as `compute-quota`.
    """

    noun: str
    arn_type: str
    content: tuple[str, ...]


QUOTA = Kind(
    noun="ComputeQuota",
    arn_type="compute-quota",
    content=("ComputeQuotaConfig", _TARGET, "ActivationState", "Description"),
)
POLICY = Kind(
    noun="ClusterSchedulerConfig",
    arn_type="cluster-scheduler-config",
    content=("SchedulerConfig", "Description"),
)


def _create(kind: Kind, backend: Backend, call: Call) -> Answer:
    cluster = backend.registry.find(call.request["ClusterArn"], call.caller)
    if not cluster.on_eks:
        message = "Task governance is supported only on clusters orchestrated by Amazon EKS."
        raise validation_error(message)
    _require_free(cluster, call, kind)
    cluster.governance_made += 1
    identifier = cluster_id(
        account=call.caller.account,
        region=call.caller.region,
        name=f"{kind.noun} {cluster.arn} {call.request['Name']}",
        ordinal=cluster.governance_made,
    )
    arn = cluster.arn.rpartition(":")[0] + f":{kind.arn_type}/{identifier}"
    made = cluster.governance[identifier] = GovernanceObject(
        kind=kind.noun,
        name=call.request["Name"],
        arn=arn,
        created_at=call.now,
        changed_at=call.now,
        content=_content(backend, call, kind),
    )
    _settle(backend, made, call, status=_CREATED)
    return {f"{kind.noun}Arn": arn, f"{kind.noun}Id": identifier}


def _require_free(cluster: Cluster, call: Call, kind: Kind) -> None:
    """Refuse a second policy, a name twice, and a second quota of a team."""
    team = (call.request.get(_TARGET) or {}).get("TeamName")
    for other in cluster.governance.values():
        if other.kind != kind.noun:
            continue
        if kind is POLICY or call.request["Name"] == other.name or team == other.team:
            message = f"Cluster '{cluster.name}' already has the {kind.noun} '{other.name}'."
            raise conflict(message)


def _describe(kind: Kind, backend: Backend, call: Call) -> Answer:
    cluster, identifier, item = _find(backend, call, kind)
    return {
        **_summary(cluster, kind, identifier, item),
        **item.content,
        **({"FailureReason": item.failure} if item.failure else {}),
    }


def _list(kind: Kind, backend: Backend, call: Call) -> Answer:
    found = [
        _summary(cluster, kind, identifier, item)
        for cluster in backend.registry.of(call.caller)
        if call.request.get("ClusterArn") in {None, cluster.arn}
        for identifier, item in cluster.governance.items()
        if item.kind == kind.noun
    ]
    shown, more = page(found, call.request)
    return {f"{kind.noun}Summaries": list(shown), **more}


def _update(kind: Kind, backend: Backend, call: Call) -> Answer:
    _cluster, _identifier, item = _find(backend, call, kind)
    faults = backend.faults
    if call.request["TargetVersion"] != item.version or faults.uses_up("governance_conflicts"):
        message = f"{kind.noun} '{item.name}' has another version: {item.version}."
        raise conflict(message)
    if item.status in _AT_WORK:
        raise conflict(f"{kind.noun} '{item.name}' is {item.status}.")
    item.content = {**item.content, **_content(backend, call, kind)}
    item.version += 1
    item.changed_at, item.status = call.now, "Updating"
    _settle(backend, item, call, status=_UPDATED)
    return {f"{kind.noun}Arn": item.arn, f"{kind.noun}Version": item.version}


def _delete(kind: Kind, backend: Backend, call: Call) -> Answer:
    cluster, identifier, item = _find(backend, call, kind)
    if item.status in _AT_WORK:
        raise conflict(f"{kind.noun} '{item.name}' is {item.status}.")
    item.status, item.changed_at = _DELETING, call.now

    def remove(_now: float) -> None:
        del cluster.governance[identifier]

    around = backend.surroundings
    around.agenda.at(call.now + around.timings.governance, remove)
    return {}


def _find(backend: Backend, call: Call, kind: Kind) -> tuple[Cluster, str, GovernanceObject]:
    identifier = call.request[f"{kind.noun}Id"]
    for cluster in backend.registry.of(call.caller):
        item = cluster.governance.get(identifier)
        if item is not None and item.kind == kind.noun:
            return cluster, identifier, item
    raise resource_not_found(f"{kind.noun} '{identifier}' not found.")


def _content(backend: Backend, call: Call, kind: Kind) -> dict[str, Any]:
    content = {name: call.request[name] for name in kind.content if name in call.request}
    config = content.get("ComputeQuotaConfig")
    if config is not None:
        resources = [_filled_in(backend, each) for each in config.get("ComputeQuotaResources", ())]
        content["ComputeQuotaConfig"] = {**config, "ComputeQuotaResources": resources}
    return content


def _filled_in(backend: Backend, resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource with the vCPUs and memory that go with its nodes or accelerators.

    AWS does so: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies-create.html
    """
    hardware = backend.surroundings.hardware(resource["InstanceType"])
    if hardware is None:
        return dict(resource)
    accelerator = hardware.accelerator
    part = float(resource.get("Count", 0))
    if "Accelerators" in resource and accelerator is not None:
        part = resource["Accelerators"] / accelerator.count
    if not part:
        return dict(resource)
    return {
        "VCpu": part * hardware.vcpus,
        "MemoryInGiB": part * hardware.memory_mib / _MIB,
        **resource,
    }


def _settle(backend: Backend, item: GovernanceObject, call: Call, *, status: str) -> None:
    """Let an object be in force after a while, or fail as the faults have it."""
    faults = backend.faults
    failure = ""
    if item.team is not None and faults.uses_up("unready_webhooks"):
        failure = _NOT_READY
    elif item.team in faults.current.quota_failures:
        failure = "The resources that the quota asks for are not available in the cluster."
    version = item.version

    def settle(now: float) -> None:
        if item.version == version and item.status != _DELETING:
            made = "Create" if status == _CREATED else "Update"
            item.status = f"{made}Failed" if failure else status
            item.failure, item.changed_at = failure, now

    around = backend.surroundings
    around.agenda.at(call.now + around.timings.governance, settle)


def _summary(
    cluster: Cluster, kind: Kind, identifier: str, item: GovernanceObject
) -> dict[str, Any]:
    target = item.content.get(_TARGET)
    return {
        f"{kind.noun}Arn": item.arn,
        f"{kind.noun}Id": identifier,
        f"{kind.noun}Version": item.version,
        "Name": item.name,
        "CreationTime": item.created_at,
        "LastModifiedTime": item.changed_at,
        "Status": item.status,
        "ClusterArn": cluster.arn,
        **({_TARGET: target} if target is not None else {}),
    }


HANDLERS: Mapping[str, Handler] = {
    f"{verb}{kind.noun}{plural}": partial(handler, kind)
    for kind in (QUOTA, POLICY)
    for verb, plural, handler in (
        ("Create", "", _create),
        ("Describe", "", _describe),
        ("List", "s", _list),
        ("Update", "", _update),
        ("Delete", "", _delete),
    )
}
