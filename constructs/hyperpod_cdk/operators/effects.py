"""What a change does to operators."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, StackState, changes
from hyperpod_cdk.eks.effects import ADDON, addon_effect
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS

_BY_NAME = {addon.name: addon for addon in OPERATOR_ADDONS}


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield the operators that come, go, and change, with what works no longer."""
    if not former.template:
        return  # A first deployment is told by what it makes.
    for logical_id, had, has in changes(former, wanted, ADDON):
        addon = _BY_NAME.get((has or had or {}).get("AddonName", ""))
        if addon is not None:
            yield addon_effect(
                logical_id,
                had,
                has,
                what=addon.says,
                lost=f". {addon.without.strip()}",
                place=("operators", addon.key),
            )
