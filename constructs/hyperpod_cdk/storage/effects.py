"""What a change does to file systems and to the claims by which pods mount them."""

import json
from collections.abc import Iterator
from contextlib import suppress

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, changes
from hyperpod_cdk.storage.claim_section import ClaimConfig

_FILES, _RELEASE = "AWS::FSx::FileSystem", "Custom::HelmRelease"
_STORAGE: tuple[str, ...] = ("storage",)


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield other sizes of file systems, and the claims that come and go."""
    for logical_id, had, has in changes(former, wanted, _FILES):
        sizes = [each.get("StorageCapacity") for each in (had, has) if each]
        if has and len({*sizes}) > 1:
            yield Effect(
                rule="storage.capacity",
                text=f"{_kind(has)} file system: {sizes[0]} -> {sizes[1]} GiB",
                place=_STORAGE,
                resources=frozenset([logical_id]),
            )
    if not former.template:
        return
    for logical_id, *releases in changes(former, wanted, _RELEASE):
        before, after = (_claims(each or {}) for each in releases)
        for claim in sorted(before ^ after):
            rule, verb = ("new", "may") if claim in after else ("removed", "may no longer")
            yield Effect(
                rule=f"storage.claim-{rule}",
                text=f"pods {verb} mount the claim {claim}",
                place=_STORAGE,
                resources=frozenset([logical_id]),
            )


def _kind(files: Properties) -> str:
    """Return the name of the service, as AWS writes it."""
    return "FSx for OpenZFS" if files.get("FileSystemType") == "OPENZFS" else "FSx for Lustre"


def _claims(release: Properties) -> set[str]:
    """Return the claims of a release, each as `<namespace>/<name>`; none of another release."""
    name, _, kind = str(release.get("Release")).rpartition("-")
    if kind != "storage":
        return set()
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        values = json.loads(release["Values"])
        usual = {"namespace": ClaimConfig().namespace, "name": f"{name}-claim"}
        claims = values.get("claims", [usual])
        return {f"{claim['namespace']}/{claim['name']}" for claim in claims}
    return set()
