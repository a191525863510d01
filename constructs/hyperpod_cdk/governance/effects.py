"""What a change does to the quotas of teams."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_shared.governance import namespace_of

_GOVERNANCE = "Custom::TaskGovernance"
_PARTS = {
    "Count": "{} x {type}",
    "Accelerators": "{} accelerators of {type}",
    "VCpu": "{} vCPUs of {type}",
    "MemoryInGiB": "{} GiB of {type}",
}


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what becomes of each team's quota, and of the policy of the cluster."""
    before, after = _teams(former), _teams(wanted)
    resources = frozenset(wanted.of_type(_GOVERNANCE))
    for team in {**before, **after}:
        had, has = before.get(team), after.get(team)
        if had == has:
            continue
        place: KeyPath = ("teams", team)
        if has is None:
            rights = f"the namespace {namespace_of(team)}, with all in it, stays"
            rule, change, place = "removed", f"removed; {rights}", place[:-1]
        elif had is None:
            rule, change = "new", has
        else:
            rule, change = "changed", f"{had} -> {has}"
        yield Effect(
            rule=f"governance.team-{rule}",
            text=f"team {team}: {change}",
            place=place,
            resources=resources,
        )
    policies = [_text(state, "SchedulerConfig") for state in (former, wanted)]
    if all(policies) and policies[0] != policies[1]:
        yield Effect(
            rule="governance.policy",
            text="the order of jobs, or the sharing of idle compute, changes",
            place=("governance",),
            resources=resources,
        )


def _text(state: StackState, member: str) -> str:
    found = (each.get(member) for each in state.of_type(_GOVERNANCE).values())
    return str(next(found, None) or "")


def _teams(state: StackState) -> dict[str, str]:
    """Return the quota of each team in words; none of what another version wrote otherwise."""
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        return {
            each["ComputeQuotaTarget"]["TeamName"]: _quota(each)
            for each in json.loads(_text(state, "Quotas") or "[]")
        }
    return {}


def _quota(team: Mapping[str, Any]) -> str:
    config = team["ComputeQuotaConfig"]
    parts = [
        words.format(each[member], type=each["InstanceType"])
        for each in config["ComputeQuotaResources"]
        for member, words in _PARTS.items()
        if member in each
    ]
    sharing = config.get("ResourceSharingConfig", {}).get("Strategy")
    weight = team["ComputeQuotaTarget"].get("FairShareWeight")
    return f"{', '.join(parts) or 'parts of nodes'} (weight {weight}, {sharing})"
