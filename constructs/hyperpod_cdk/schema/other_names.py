"""Words of other tools for keys of a configuration: hyp, Terraform, eksctl, ParallelCluster."""

import re
from collections.abc import Mapping

from hyperpod_cdk.facts import table_of

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AROUND = re.compile(
    r"^(create_new_|create_|enable_|existing_|hyperpod_)+|_(module|stack|feature)$"
)

HOMES: Mapping[str, str] = table_of(__package__, "other_names")
"""The key, or two, that a word is for; `[]` follows a list."""


def plain_name(key: str) -> str:
    """Return a key in lower case with underscores, without words that say to make something."""
    return _AROUND.sub("", _CAPITAL.sub("_", key).replace("-", "_").lower())


def homes_of(key: str) -> list[str]:
    """Return the paths of the keys that another tool's word is for; none for no such word."""
    home = HOMES.get(plain_name(key))
    return [] if home is None else home.split(" or ")
