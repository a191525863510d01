"""The part of docs/security.md that is written from the templates."""

from collections.abc import Iterator, Sequence

from tools.security.reasons import OPTIONS, PURPOSES
from tools.security.roles import Role, Statement

BEGIN, END = "<!-- roles -->\n", "<!-- /roles -->\n"
_MOST_SHOWN = 3


def with_roles(page: str, *, roles: Sequence[Role]) -> str:
    """Return a page with the roles between its marks.

    Raises:
        KeyError: A role or a statement has no reason.
        ValueError: The page has no marks.
    """
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"no {BEGIN.strip()} … {END.strip()} in the page")
    return before + BEGIN + "\n".join(_lines(roles)) + "\n" + END + after


def _lines(roles: Sequence[Role]) -> Iterator[str]:
    for role in roles:
        purpose = PURPOSES[role.name]
        yield f"\n### {purpose.title}\n"
        yield f"{purpose.text} Assumed by `{role.service}`{_trust(role)}."
        for policy in role.managed_policies:
            yield f"Has the AWS managed policy `{policy}`."
        if role.statements:
            yield "\n| statement | allows | on | why |\n|---|---|---|---|"
        yield from dict.fromkeys(
            _row(statement, why=purpose.statements[statement.name]) for statement in role.statements
        )
    yield "\n### What keys of the configuration add\n"
    yield "| statement | added by | why |\n|---|---|---|"
    for name, (key, why) in OPTIONS.items():
        yield f"| `{name}` | {key} | {why} |"


def _trust(role: Role) -> str:
    conditions = [f"`{operator}` `{key}`" for operator, keys in role.trust.items() for key in keys]
    return f" under {' and '.join(conditions)}" if conditions else ""


def _row(statement: Statement, *, why: str) -> str:
    conditions = [
        f"`{key}`: {_some(values)}"
        for keys in statement.conditions.values()
        for key, values in keys.items()
    ]
    where = _some([_named(resource) for resource in dict.fromkeys(statement.resources)])
    if conditions:
        where += f", if {' and '.join(conditions)}"
    actions = ", ".join(f"`{action}`" for action in statement.actions)
    return f"| `{statement.name}` | {actions} | {where} | {why} |"


def _named(resource: str) -> str:
    """Return a resource without what differs from one synthesis to the next."""
    bucket, slash, _ = resource.partition("/")
    return f"{bucket}/<digest>.zip" if slash and "-assets-" in bucket else resource


def _some(values: Sequence[str]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:_MOST_SHOWN])
    more = len(values) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
