"""What becomes of the resources of a stack of which no section says anything: pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk.effects.effect import Effect, StackState, Template, resources_of
from hyperpod_cdk.effects.sections import section_effects
from hyperpod_cli.aws.assembly import construct_paths, text
from hyperpod_cli.inspect.resource_types import resource_type
from hyperpod_cli.plan.differences import Difference

RESOURCES = "stack.resources"
"""The rule of the effect that counts the resources of a stack."""
PERMISSIONS = "permissions"
"""The rule of the effect that somebody may do more than before."""
# What users should not find out afterwards is named one by one, as far as it fits.
_NAMED = {
    "replaced": "replaces",
    "perhaps_replaced": "may replace",
    "deleted": "deletes",
    "kept": "leaves behind, without a stack,",
}
DESTRUCTIVE = frozenset(_NAMED) - {"kept"}
"""What becomes of the resources that are replaced or deleted."""
_COUNTED = {"created": "to create", "updated": "to update"}
_AT_MOST = 8
_AT_MOST_ACTIONS = 5
_REFERENCE = re.compile(r"\$\{(\w+)(?:\.Arn)?\}")
# What CloudFormation does without a DeletionPolicy to the types that are kept here.
_DELETE = "Delete"


def stack_effects(
    difference: Difference, *, former: StackState, wanted: StackState
) -> Iterator[Effect]:
    """Yield what becomes of a stack: a count, what is replaced or deleted, and what sections say.

    What a section speaks of is not counted; that it is replaced is said all the same.
    """
    said = [*section_effects(former, wanted)]
    spoken_of = frozenset[str]().union(*(each.resources for each in said))
    rest = {
        kind: [item for item in ids if item not in spoken_of or "replaced" in kind]
        for kind, ids in difference.resources.items()
    }
    names = _paths(former.template) | _paths(wanted.template)
    if former.template:
        yield from _of_resources(rest, names=names, templates=(former.template, wanted.template))
    else:
        created = difference.resources.get("created", ())
        text, resources = f"new, {len(created)} resources", frozenset(rest.get("created", ()))
        yield Effect(rule="stack.new", text=text, resources=resources)
    yield from _of_kept(former.template, wanted.template)
    yield from said
    for each in difference.permissions:
        yield Effect(rule=PERMISSIONS, text=_permission(each, names=names))


def _of_resources(
    changed: Mapping[str, Sequence[str]],
    *,
    names: Mapping[str, str],
    templates: tuple[Template, Template],
) -> Iterator[Effect]:
    counts = [
        f"{len(changed[kind])} {words}" for kind, words in _COUNTED.items() if changed.get(kind)
    ]
    if counts:
        counted = frozenset(each for kind in _COUNTED for each in changed.get(kind, ()))
        yield Effect(rule=RESOURCES, text=", ".join(counts), resources=counted)
    types = {each: str(kind) for one in templates for each, kind, _ in resources_of(one)}
    for kind, words in _NAMED.items():
        logical_ids = changed.get(kind)
        if not logical_ids:
            continue
        shown = sorted(names.get(each, each) for each in logical_ids)
        more = f" and {len(shown) - _AT_MOST} more" if len(shown) > _AT_MOST else ""
        holds_data = any(resource_type(types.get(each, "")).holds_data for each in logical_ids)
        yield Effect(
            rule=f"stack.{kind}",
            text=f"{words} {', '.join(shown[:_AT_MOST])}{more}",
            resources=frozenset(logical_ids),
            loses=holds_data and kind != "kept",
        )


def _of_kept(former: Template, wanted: Template) -> Iterator[Effect]:
    """Yield what was to stay when its stack is deleted, and is deleted with it from now on."""
    still = _kept(wanted)
    for name, kind in _kept(former).items():
        if name in wanted.get("Resources", ()) and name not in still:
            text = f"{name} ({kind}) is deleted with its stack from then on; it was kept"
            yield Effect(rule="stack.not-kept", text=text)


def _kept(template: Template) -> dict[str, object]:
    """Return the types of the resources that outlive their stack, by logical ID."""
    resources = template.get("Resources")
    return {
        name: each.get("Type")
        for name, each in (resources.items() if isinstance(resources, Mapping) else ())
        if isinstance(each, Mapping) and each.get("DeletionPolicy", _DELETE) != _DELETE
    }


def _paths(template: Template) -> dict[str, str]:
    return construct_paths(template) if template else {}


def _permission(permission: Mapping[str, Any], *, names: Mapping[str, str]) -> str:
    """Return who may do what on what, or from where one may come in, in one line."""
    match permission:
        case {"peer": peer, "ports": ports, "group": group}:
            return f"{peer} may come in by {ports} to {_shown(group, names)}"
        case {"policy": policy, "who": [who]}:
            return f"{_shown(who, names)} may do what {_shown(policy, names)} allows"
    who = _listed(permission["who"] or ["whoever assumes it"], names)
    actions, on = _listed(permission["actions"], {}), _listed(permission["resources"], names)
    conditions = (
        f"{key} {operator} {_listed(value if isinstance(value, list) else [value], names)}"
        for operator, keys in (permission.get("condition") or {}).items()
        for key, value in keys.items()
    )
    only = "; ".join(conditions)
    return f"{who} may {actions} on {on}{f', if {only}' if only else ''}"


def _listed(values: Iterable[object], names: Mapping[str, str]) -> str:
    shown = [_shown(str(each), names) for each in values]
    more = f" and {len(shown) - _AT_MOST_ACTIONS} more" if len(shown) > _AT_MOST_ACTIONS else ""
    return f"{', '.join(shown[:_AT_MOST_ACTIONS])}{more}"


def _shown(value: str, names: Mapping[str, str]) -> str:
    """Return a principal, action or ARN, with paths of constructs in the place of references."""
    for kind in ("AWS:", "Service:", "Federated:"):
        value = value.removeprefix(kind)
    if value.startswith("{"):
        value = text(json.loads(value))
    return _REFERENCE.sub(lambda reference: names.get(reference[1], reference[1]), value)
