"""What a change does to the control plane, to its add-ons, and to who may do what in Kubernetes."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, changes
from hyperpod_cdk.eks.access import ADMIN_POLICY, EDIT_POLICY, TRAINING_POLICY, VIEW_POLICY
from hyperpod_cdk.eks.section import DAEMON_SET_ADDONS, DNS_ADDON, ISOLATION_RELEASE
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.schema.errors import KeyPath

_RELEASE = "Custom::HelmRelease"
_CLUSTER, _ENTRY, ADDON = "AWS::EKS::Cluster", "AWS::EKS::AccessEntry", "AWS::EKS::Addon"
# Of these, the section `operators` says what becomes.
_OPERATORS = frozenset(addon.name for addon in OPERATOR_ADDONS)
# What a policy lets somebody do, and the key that gives it.
_RIGHTS = {
    ADMIN_POLICY: ("administer the Kubernetes cluster", "admins"),
    VIEW_POLICY: ("look at the Kubernetes cluster", "viewers"),
    EDIT_POLICY: ("change objects", "editors"),
    TRAINING_POLICY: ("run jobs", "editors"),
}
_NAMED = ("role/", "user/")

ACCESS = "eks.access"
"""The rule of the effect that somebody may do more in Kubernetes than before."""


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what a change does to EKS."""
    yield from _of_version(former, wanted)
    # A first deployment is told by what it makes.
    if former.template:
        yield from _of_entries(former, wanted)
        yield from _of_namespaces(former, wanted)
        yield from _of_addons(former, wanted)


def _of_version(former: StackState, wanted: StackState) -> Iterator[Effect]:
    before, after = _version(former), _version(wanted)
    if before and after and before != after:
        yield Effect(
            rule="eks.version",
            text=f"Kubernetes {before} -> {after}, which neither a rollback nor another deployment "
            "takes back (docs: kubernetes-upgrade)",
            place=("eks", "version"),
            resources=frozenset(wanted.of_type(_CLUSTER)),
        )


def _version(state: StackState) -> str:
    versions = (cluster.get("Version") for cluster in state.of_type(_CLUSTER).values())
    return str(next(versions, None) or "")


def _of_entries(former: StackState, wanted: StackState) -> Iterator[Effect]:
    teams = {**_apart(former), **_apart(wanted)}
    for logical_id, *entries in changes(former, wanted, _ENTRY):
        had, has = ([*_rights(each or {}, teams=teams)] for each in entries)
        make = partial(Effect, resources=frozenset([logical_id]))
        for who, right, place in has:
            if (who, right, place) not in had:
                yield make(rule=ACCESS, text=f"{who} may {right}", place=place)
        for who, right, place in had:
            if (who, right, place) not in has:
                text = f"{who} may no longer {right}"
                yield make(rule="eks.access-removed", text=text, place=place)


def _rights(entry: Properties, *, teams: Mapping[str, str]) -> Iterator[tuple[str, str, KeyPath]]:
    """Yield who, may do what where, and its key; nothing of roles that the stacks make."""
    who = str(entry.get("PrincipalArn", "")).partition(":iam::")[2].partition(":")[2]
    if not who.startswith(_NAMED):
        return
    for policy in entry.get("AccessPolicies", ()):
        name = str(policy.get("PolicyArn")).rpartition("/")[2]
        scope = policy.get("AccessScope", {})
        namespaces = scope.get("Namespaces") or ()
        where = f" in {', '.join(namespaces)}" if namespaces else ""
        right, key = _RIGHTS.get(name, (f"do what {name} allows", ""))
        place: KeyPath = ("eks", key) if key else ("eks",)
        if namespaces and all(teams.get(each) for each in namespaces):
            place = ("teams",)
        yield who.replace("/", " ", 1), f"{right}{where}", place


def _of_namespaces(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield which namespaces are kept apart from others, and which no longer are."""
    had, has = (_apart(state) for state in (former, wanted))
    for name in sorted(had.keys() ^ has.keys()):
        text = (
            f"pods in {name} are kept apart from other namespaces"
            if name in has
            else f"pods in {name}, which stays with all in it, are no longer kept apart from other "
            "namespaces, nor from the nodes"
        )
        team = has.get(name, had.get(name))
        yield Effect(
            rule="eks.isolation",
            text=text,
            place=("teams", team) if team else ("eks", "editors"),
            resources=frozenset(wanted.of_type(_RELEASE)),
        )


def _apart(state: StackState) -> Mapping[str, str]:
    """Return the namespaces with a network policy, each with its team, if it has one."""
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        for release in state.of_type(_RELEASE).values():
            if release.get("Release") == ISOLATION_RELEASE:
                values = json.loads(release["Values"])
                teams = {
                    name: each["name"]
                    for each in values.get("users", ())
                    for name in each["namespaces"]
                }
                return {each["name"]: teams.get(each["name"], "") for each in values["made"]}
    return {}


def _of_addons(former: StackState, wanted: StackState) -> Iterator[Effect]:
    for logical_id, had, has in changes(former, wanted, ADDON):
        name = (has or had or {}).get("AddonName")
        if name not in _OPERATORS:
            place = ("eks",) if name in (*DAEMON_SET_ADDONS, DNS_ADDON) else ()
            yield addon_effect(logical_id, had, has, what=f"add-on {name}", place=place)


def addon_effect(
    logical_id: str,
    had: Properties | None,
    has: Properties | None,
    *,
    what: str,
    place: KeyPath,
    lost: str = "",
) -> Effect:
    """Return what becomes of an add-on; `lost` is what it is missed for when it goes."""
    if had is None:
        rule, change = "new", "new"
    elif has is None:
        rule, change = "removed", f"removed{lost}"
    elif had.get("AddonVersion") != has.get("AddonVersion"):
        rule, change = "changed", f"{had.get('AddonVersion')} -> {has.get('AddonVersion')}"
    else:
        rule, change = "changed", "other values"
    return Effect(
        rule=f"eks.addon-{rule}",
        text=f"{what}: {change}",
        place=place,
        resources=frozenset([logical_id]),
    )
