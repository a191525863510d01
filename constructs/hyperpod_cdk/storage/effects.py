"""What a change does to file systems and to the claims by which pods mount them."""

import json
from collections.abc import Iterator
from contextlib import suppress

from hyperpod_cdk.effects.effect import Effect, Properties, StackState
from hyperpod_cdk.storage.claim_section import ClaimConfig

_FILES, _RELEASE = "AWS::FSx::FileSystem", "Custom::HelmRelease"
_STORAGE: tuple[str, ...] = ("storage",)


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield other sizes of file systems, and the claims that come and go."""
    before, after = former.of_type(_FILES), wanted.of_type(_FILES)
    for logical_id in before.keys() & after.keys():
        had, has = (each[logical_id].get("StorageCapacity") for each in (before, after))
        if had != has:
            yield Effect(
                rule="storage.capacity",
                text=f"{_kind(after[logical_id])} file system: {had} -> {has} GiB",
                place=_STORAGE,
                resources=frozenset([logical_id]),
            )
    if not former.template:
        return
    releases = {**former.of_type(_RELEASE), **wanted.of_type(_RELEASE)}
    for logical_id in releases:
        had, has = (_claims(state, logical_id) for state in (former, wanted))
        for claim in sorted(had ^ has):
            rule, verb = ("new", "may") if claim in has else ("removed", "may no longer")
            yield Effect(
                rule=f"storage.claim-{rule}",
                text=f"pods {verb} mount the claim {claim}",
                place=_STORAGE,
                resources=frozenset([logical_id]),
            )


def _kind(files: Properties) -> str:
    """Return the name of the service, as AWS writes it."""
    return "FSx for OpenZFS" if files.get("FileSystemType") == "OPENZFS" else "FSx for Lustre"


def _claims(state: StackState, logical_id: str) -> set[str]:
    """Return the claims of a release, each as `<namespace>/<name>`; none of another release."""
    release = state.of_type(_RELEASE).get(logical_id, {})
    name, _, kind = str(release.get("Release")).rpartition("-")
    if kind != "storage":
        return set()
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        values = json.loads(release["Values"])
        usual = {"namespace": ClaimConfig().namespace, "name": f"{name}-claim"}
        claims = values.get("claims", [usual])
        return {f"{claim['namespace']}/{claim['name']}" for claim in claims}
    return set()
