"""Whether a pattern of ARNs can match one of a published form such as `arn:…:vpc/${VpcId}`."""

import re
from functools import cache

_TOKEN = re.compile(r"\$\{(\w+)\}|(.)")
_WITH_SLASHES = {"LogGroupName", "ObjectName", "ParameterNameWithoutLeadingSlash", "RepositoryName"}
"""Variables whose values may have slashes, besides those that say that they have a path."""
# IAM takes these with a suffix: all streams of a group, and versions of a function.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
_QUALIFIED = re.compile(r":(log-group:\$\{LogGroupName\}|function:\$\{FunctionName\})$")

Token = tuple[str, str]
"""`is` and a character, or `one` or `many` and the characters that it does not stand for."""


@cache
def can_match(pattern: str, form: str) -> bool:
    """Return whether a pattern with `*` and `?` matches an ARN of a form.

    A variable of the form is one or more characters, none of which is a colon, or a slash unless
    its name says so.
    """
    forms = [form, *([f"{form}:${{Qualifier}}"] if _QUALIFIED.search(form) else [])]
    wanted = _of_pattern(pattern)
    return any(_intersect(wanted, _of_form(each)) for each in forms)


@cache
def intersect(pattern: str, other: str) -> bool:
    """Return whether two patterns with `*` and `?` can mean the same resource."""
    return _intersect(_of_pattern(pattern), _of_pattern(other))


def _of_pattern(pattern: str) -> tuple[Token, ...]:
    return tuple({"*": ("many", ""), "?": ("one", "")}.get(c, ("is", c)) for c in pattern)


def _of_form(form: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    for variable, character in _TOKEN.findall(form):
        if variable:
            without = ":" if variable in _WITH_SLASHES or "Path" in variable else ":/"
            # The region and the account of some ARNs are empty.
            optional = variable in ("Region", "Account")
            tokens += [("many", without)] if optional else [("one", without), ("many", without)]
        else:
            tokens.append(("is", character))
    return tuple(tokens)


def _intersect(first: tuple[Token, ...], second: tuple[Token, ...]) -> bool:
    """Return whether there is a text that both match."""

    @cache
    def rest(i: int, j: int) -> bool:
        if i == len(first) and j == len(second):
            return True
        if i < len(first) and first[i][0] == "many":
            return rest(i + 1, j) or (j < len(second) and rest(i, j + 1))
        if j < len(second) and second[j][0] == "many":
            fits = i < len(first) and _overlap(first[i], second[j])
            return rest(i, j + 1) or (fits and rest(i + 1, j))
        if i == len(first) or j == len(second):
            return False
        return _overlap(first[i], second[j]) and rest(i + 1, j + 1)

    return rest(0, 0)


def _overlap(first: Token, second: Token) -> bool:
    (kind, value), (other_kind, other) = first, second
    if kind == "is" and other_kind == "is":
        return value == other
    return not (kind == "is" and value in other) and not (other_kind == "is" and other in value)
