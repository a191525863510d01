"""What a change does to the budget, and to who gets messages."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, changes

_BUDGET, _SUBSCRIPTION = "AWS::Budgets::Budget", "AWS::SNS::Subscription"


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what becomes of the budget and of each address."""
    for logical_id, had, has in changes(former, wanted, _BUDGET, _SUBSCRIPTION):
        key = "notifications" if "Endpoint" in (had or has or {}) else "budget"
        before, after = (_words(each) for each in (had, has))
        if before == after:
            continue
        if has is None:
            text = f"{before}: removed"
        elif had is None:
            confirms = ", once the link that AWS sends there is opened"
            text = f"{after}{confirms if key == 'notifications' else ''}: new"
        else:
            text = f"{before} -> {after}"
        yield Effect(
            rule=f"observability.{key}",
            text=text,
            place=("observability", key),
            resources=frozenset([logical_id]),
        )


def _words(properties: Properties | None) -> str:
    properties = properties or {}
    if "Endpoint" in properties:
        return f"messages to {properties['Endpoint']}"
    return f"budget of {properties.get('Budget', {}).get('BudgetLimit', {}).get('Amount')} USD"
