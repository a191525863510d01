"""Which characters a text of the configuration may hold."""

from collections.abc import Iterator

from yaml.reader import Reader

from hyperpod_cdk.config.faults import Fault, Path

# An alias can put a mapping into itself; what is nested deeper is refused where it stands.
_DEEPEST = 40


def text_faults(value: object, path: Path = ()) -> Iterator[Fault]:
    """Find the texts with control characters, which no template can be read with.

    CloudFormation reads a template, JSON included, as YAML, which has no control characters but
    tabs and line breaks (https://yaml.org/spec/1.2.2/#51-character-set).
    """
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from text_faults(key, path)
            if isinstance(key, str):
                yield from text_faults(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from text_faults(item, (*path, index))
    elif isinstance(value, str) and (found := Reader.NON_PRINTABLE.search(value)):
        name = f"U+{ord(found.group()):04X}"
        message = f"must not hold the control character {name}, which no template can hold"
        yield Fault(path=path, value=value, message=message)
