"""What a change does to the control plane, to its add-ons, and to who may do what in Kubernetes."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, Properties, StackState
from hyperpod_cdk.eks.access import ADMIN_POLICY, EDIT_POLICY, TRAINING_POLICY, VIEW_POLICY
from hyperpod_cdk.schema.errors import KeyPath

_CLUSTER, _ENTRY, _ADDON = "AWS::EKS::Cluster", "AWS::EKS::AccessEntry", "AWS::EKS::Addon"
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
        yield from _of_addons(former, wanted)


def _of_version(former: StackState, wanted: StackState) -> Iterator[Effect]:
    before, after = _version(former), _version(wanted)
    if before and after and before != after:
        yield Effect(
            rule="eks.version",
            text=f"Kubernetes {before} -> {after}, which neither a rollback nor another deployment "
            "takes back (docs/kubernetes-upgrade.md)",
            place=("eks", "version"),
            resources=frozenset(wanted.of_type(_CLUSTER)),
        )


def _version(state: StackState) -> str:
    versions = (cluster.get("Version") for cluster in state.of_type(_CLUSTER).values())
    return str(next(versions, None) or "")


def _of_entries(former: StackState, wanted: StackState) -> Iterator[Effect]:
    before, after = former.of_type(_ENTRY), wanted.of_type(_ENTRY)
    for logical_id in {**before, **after}:
        had, has = (dict(_rights(state.get(logical_id, {}))) for state in (before, after))
        for rights, others, may in ((has, had, "may"), (had, has, "may no longer")):
            for text, place in rights.items():
                if text not in others:
                    who, _, what = text.partition(": ")
                    yield Effect(
                        rule=ACCESS if may == "may" else "eks.access-removed",
                        text=f"{who} {may} {what}",
                        place=place,
                        resources=frozenset([logical_id]),
                    )


def _rights(entry: Properties) -> Iterator[tuple[str, KeyPath]]:
    """Yield who may do what where, each with its key; nothing of roles that the stacks make."""
    who = str(entry.get("PrincipalArn", "")).partition(":iam::")[2].partition(":")[2]
    if not who.startswith(_NAMED):
        return
    for policy in entry.get("AccessPolicies", ()):
        name = str(policy.get("PolicyArn")).rpartition("/")[2]
        scope = policy.get("AccessScope", {})
        where = f" in {', '.join(scope['Namespaces'])}" if scope.get("Namespaces") else ""
        right, key = _RIGHTS.get(name, (f"do what {name} allows", ""))
        yield f"{who.replace('/', ' ', 1)}: {right}{where}", ("eks", key) if key else ("eks",)


def _of_addons(former: StackState, wanted: StackState) -> Iterator[Effect]:
    before, after = former.of_type(_ADDON), wanted.of_type(_ADDON)
    for logical_id in {**before, **after}:
        had, has = before.get(logical_id), after.get(logical_id)
        if had == has:
            continue
        name = (has or had or {}).get("AddonName")
        text, rule = f"add-on {name}: other values", "eks.addon-changed"
        if had is None or has is None:
            text = f"add-on {name}: {'new' if has else 'removed'}"
            rule = "eks.addon-new" if has else "eks.addon-removed"
        elif had.get("AddonVersion") != has.get("AddonVersion"):
            text = f"add-on {name}: {had.get('AddonVersion')} -> {has.get('AddonVersion')}"
        yield Effect(rule=rule, text=text, resources=frozenset([logical_id]))
