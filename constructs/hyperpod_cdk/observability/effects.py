"""What a change does to the budget, and to who gets messages."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.schema.errors import KeyPath

_BUDGET, _SUBSCRIPTION = "AWS::Budgets::Budget", "AWS::SNS::Subscription"
_OBSERVABILITY: KeyPath = ("observability",)


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what becomes of the budget and of each address."""
    for words, key in ((_amounts, "budget"), (_addresses, "notifications")):
        before, after = words(former), words(wanted)
        for logical_id in {**before, **after}:
            had, has = before.get(logical_id), after.get(logical_id)
            if had == has:
                continue
            change = f"{had}: removed" if has is None else f"{has}: new"
            if had is not None and has is not None:
                change = f"{had} -> {has}"
            yield Effect(
                rule=f"observability.{key}",
                text=change,
                place=(*_OBSERVABILITY, key),
                resources=frozenset([logical_id]),
            )


def _amounts(state: StackState) -> dict[str, str]:
    return {
        logical_id: f"budget of {each.get('Budget', {}).get('BudgetLimit', {}).get('Amount')} USD"
        for logical_id, each in state.of_type(_BUDGET).items()
    }


def _addresses(state: StackState) -> dict[str, str]:
    return {
        logical_id: f"messages to {each.get('Endpoint')}"
        for logical_id, each in state.of_type(_SUBSCRIPTION).items()
    }
