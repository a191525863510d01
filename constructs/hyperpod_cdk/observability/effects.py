"""What a change does to the budget, and to who gets messages."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk.effects.effect import Effect, StackState

_BUDGET, _SUBSCRIPTION = "AWS::Budgets::Budget", "AWS::SNS::Subscription"


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what becomes of the budget and of each address."""
    yield from _changes("budget", _amounts(former), _amounts(wanted))
    yield from _changes("notifications", _addresses(former), _addresses(wanted))


def _changes(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Effect]:
    for logical_id in {**before, **after}:
        had, has = before.get(logical_id), after.get(logical_id)
        if had == has:
            continue
        if has is None:
            text = f"{had}: removed"
        elif had is None:
            text = f"{has}: new"
        else:
            text = f"{had} -> {has}"
        yield Effect(
            rule=f"observability.{key}",
            text=text,
            place=("observability", key),
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
