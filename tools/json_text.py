"""JSON as it is kept in the repository: what fits into a line stands in one."""

import json

_WIDTH = 100


def json_text(value: object, *, sort_keys: bool = False) -> str:
    """Return a value as JSON with lines of at most 100 characters, where its texts allow that."""
    plain = json.loads(json.dumps(value, sort_keys=sort_keys))
    return _rendered(plain, indent=0, before=0) + "\n"


def _rendered(value: object, *, indent: int, before: int) -> str:
    """Render a value that stands after `before` characters of a line."""
    line = json.dumps(value, ensure_ascii=False)
    # A comma follows.
    if not isinstance(value, dict | list) or not value or before + len(line) < _WIDTH:
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        keys = [f"{inner}{json.dumps(key, ensure_ascii=False)}: " for key in value]
        opening, closing, values = "{", "}", [*value.values()]
    else:
        keys, opening, closing, values = [inner] * len(value), "[", "]", value
    lines = [
        key + _rendered(each, indent=indent + 1, before=len(key))
        for key, each in zip(keys, values, strict=True)
    ]
    return "\n".join((opening, ",\n".join(lines), " " * indent + closing))
