"""Reading a YAML file strictly: nothing dropped, nothing guessed, every error with its place."""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from yaml.constructor import ConstructorError
from yaml.error import Mark, MarkedYAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import Reader, ReaderError

from hyperpod_cdk.schema.errors import (
    ConfigError,
    Finding,
    KeyPath,
    Written,
    error,
    key_path,
    shown,
)
from hyperpod_cdk.schema.given_file import MOST_BYTES, given_text
from hyperpod_cdk.schema.limits import is_token

_NOT_YAML = "this cannot be read; check the quotes, the brackets and the indentation here and above"
_INDENTATION = (
    "the indentation fits none of the lines above; begin the keys of one mapping, and the dashes "
    "of one list, in the same column"
)
_IN_QUOTES = "write the value in quotes"
_TWO_COLONS = f"a colon and a space inside a value; {_IN_QUOTES}"
_DIRECTIVE = "a line cannot begin with %; write the key in quotes"
_BLOCK_TEXT = f"| and > begin a text of several lines; if that is not meant, {_IN_QUOTES}"

# PyYAML's words, and what is said instead.
_SENTENCES: Mapping[str, str] = {
    "^ ?(.* is not a value of its type|the number is too large|nested too deeply .*)$": r"\1",
    r"'\\t'": "a tab; indent with spaces, not tabs",
    "scanning a quoted scalar": "the quote that begins here is not closed",
    "parsing a flow sequence": (
        "the [ that stands here has no ], or a comma is missing between its entries"
    ),
    "parsing a flow mapping": (
        "the { that stands here has no }, or a comma is missing between its keys"
    ),
    r"character '(.)' that cannot start": rf"a value cannot begin with \1; {_IN_QUOTES}",
    r"node content, but found '(\S+)'": rf"a value cannot begin with \1; {_IN_QUOTES}",
    "mapping keys are not allowed": f"a value cannot begin with ?; {_IN_QUOTES}",
    "could not find expected ':'": "this has no colon and no space behind it, as in `key: value`",
    "mapping values are not allowed": (
        "this line or the one above it is not `key: value`; check the indentation, and the space "
        "behind the colon"
    ),
    "sequence entries are not allowed": "a list begins on the line below its key",
    r"<block end>, but found '<scalar>'": (
        "text behind a closing quote; check where the quotes above begin and end"
    ),
    "<block end>, but found '<block mapping start>'": _INDENTATION,
    "<block end>, but found '<block sequence start>'": _INDENTATION,
    r"block collection expected <block end>, but found '\?'": (
        "a key among the entries of a list; begin each entry with a dash and a space, and a key of "
        "an entry in the column of the entry's first key"
    ),
    "block mapping expected <block end>, but found '-'": (
        "an entry of a list among the keys of a mapping; check the indentation"
    ),
    "block mapping expected <block end>, but found ':'": "a colon without a key",
    r"undefined alias '(.+)'": (
        rf"*\1 repeats what is marked with &\1, and nothing is; if that is not meant, "
        rf"{_IN_QUOTES}"
    ),
    "scanning an (alias|anchor)|found '<(alias|anchor)>'|duplicate anchor": (
        f"* and & mark and repeat values; if that is not meant, {_IN_QUOTES}"
    ),
    "for the tag|(parsing|scanning) a tag|while parsing a node|found '<tag>'": (
        f"a value cannot begin with !; {_IN_QUOTES}"
    ),
    "single document": "a configuration is one document; remove what follows",
    "double-quoted scalar": (
        r"\\ begins a special character in double quotes; write the value in single quotes"
    ),
    "scanning a block scalar": _BLOCK_TEXT,
    "unhashable key": "a key must be text, not a list or a mapping",
    "for merging": "<< takes a mapping that is marked with & elsewhere, such as *group",
    "directive|incompatible YAML document": _DIRECTIVE,
    "document start": (
        "this does not continue what stands above; check the indentation, and that no line above "
        "begins with %"
    ),
}
# Those that are about where the construct begins.
_BEGINS = (
    "scanning a quoted scalar",
    "parsing a flow sequence",
    "parsing a flow mapping",
    "could not find expected ':'",
)


def syntax_error(error: MarkedYAMLError, *, text: str) -> str:
    """Return where a text is not YAML and why: `:<line>:<column>: <sentence>`."""
    words = " ".join(f"{error.context or ''} {error.problem or ''}".split())
    found = next(filter(None, (re.search(pattern, words) for pattern in _SENTENCES)), None)
    pattern = "" if found is None else found.re.pattern
    sentence = _NOT_YAML if found is None else found.expand(_SENTENCES[pattern])
    mark = (error.context_mark if pattern in _BEGINS else None) or error.problem_mark
    if mark is None:
        return f": YAML syntax error: {sentence}"
    if "mapping values" in words and ": " in text.splitlines()[mark.line][: mark.column]:
        sentence = _TWO_COLONS
    return f":{mark.line + 1}:{mark.column + 1}: YAML syntax error: {sentence}"


# Sets have no order; dates, binary values and pairs are not part of any configuration.
_REFUSED_TAGS = ("timestamp", "binary", "set", "omap", "pairs")
_MERGE_TAG = "tag:yaml.org,2002:merge"
_TEXT_TAG = "tag:yaml.org,2002:str"
_LARGEST_INTEGER_BITS = 64
_MOST_NODES = 100_000
_TO_DO = "give the path of a YAML configuration file, or write one with `hyperpod-cdk init`"
_TOO_DEEP, _DEEPEST_READ = "nested too deeply to be a configuration", 100
# An alias can put a mapping into itself; what is nested deeper is refused where it stands.
_DEEPEST = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class YamlFile:
    """What a YAML file holds, and where.

    The root is the document as PyYAML composed it, with merge keys resolved; None for an empty one.
    """

    path: Path
    document: object
    root: Node | None

    def refuse(self, findings: Iterable[Finding]) -> None:
        """Raise findings about the document, each with its line of the file.

        Raises:
            ConfigError: There is at least one.
        """
        found = list(findings)
        if found:
            raise ConfigError(map(self.line, found), rows=map(self.row, found))

    def line(self, finding: Finding) -> str:
        """Write a finding after the line of its key, or of the closest one around it.

        Terminals and editors follow `<file>:<line>`.
        """
        number, placed = self._placed(finding)
        return f"{self.path}:{number}: {placed.within(self.document)}"

    def row(self, finding: Finding) -> Mapping[str, object]:
        """Return a finding and its place in parts, as JSON has them; the value as it is shown."""
        number, placed = self._placed(finding)
        return {
            "severity": str(placed.severity),
            "file": str(self.path),
            "line": number,
            "key": key_path(placed.path),
            "value": shown(placed.value),
            "rule": placed.rule or None,
            "message": placed.message,
        }

    def _placed(self, finding: Finding) -> tuple[int, Finding]:
        """Return the line of a finding, and the finding with the value that is written there."""
        path = tuple(self._indexed(finding.path))
        number, node = self._found(path)
        value = finding.value
        # A mapping is what a template has for a switch.
        if isinstance(node, ScalarNode) and isinstance(value, bool | int | float | Mapping):
            value = Written(node.value)
        return number, replace(finding, path=path, value=value, is_default=node is None)

    def place(self, path: KeyPath) -> str:
        """Return `<file>:<line>: <key>`; an entry of a list may be given by its name."""
        path = tuple(self._indexed(path))
        named = Finding(path=path, value=None, message="").within(self.document).path
        return f"{self.path}:{self._found(path)[0]}: {key_path(named)}"

    def _indexed(self, path: KeyPath) -> Iterator[str | int]:
        """Yield the steps of a path, with the position of an entry in the place of its name."""
        value = self.document
        for step in path:
            if isinstance(value, list):
                index = step if isinstance(step, int) else _index_of(step, value)
                if index is None:
                    return
                yield index
                value = value[index] if index < len(value) else None
            else:
                yield step
                value = value.get(step) if isinstance(value, dict) else None

    def _found(self, path: KeyPath) -> tuple[int, Node | None]:
        """Return the line of a key, or of the closest one around it, and what it has."""
        number, node = 1, self.root
        for step in path:
            child = _child(node, step)
            if child is None:
                return number, None
            mark, node = child
            number = mark.line + 1
        return number, node


def _index_of(name: str, entries: Sequence[object]) -> int | None:
    names = [each.get("name") if isinstance(each, dict) else None for each in entries]
    return names.index(name) if name in names else None


def _child(node: Node | None, step: str | int) -> tuple[Mark, Node] | None:
    """Return where a key or a list's entry is, and what is there; None for nothing."""
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark, node.value[step]
    found = None
    for key, value in node.value if isinstance(node, MappingNode) else ():
        # What is merged into a mapping stands before its own keys, which win.
        if key.value == step and key.tag == _TEXT_TAG:
            found = key.start_mark, value
    return found


def read_yaml(path: Path) -> YamlFile:
    """Read the one document of a YAML file.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8 or not YAML, or repeats a key.
    """
    try:
        kind, size = path.stat().st_mode, path.stat().st_size
        if not stat.S_ISREG(kind):
            raise ConfigError([f"{path}: is not a file; {_TO_DO}"])
        if size > MOST_BYTES:
            raise ConfigError(
                [f"{path}: has {size:,} bytes; a configuration has at most {MOST_BYTES:,}"]
            )
        text = given_text(path, encoding="utf-8-sig")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}; {_TO_DO}"
        raise ConfigError([f"{path}: {reason}"]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError([f"{path}:{line}: the file must be UTF-8 text"]) from error
    return parsed_yaml(text, path=path)


def parsed_yaml(text: str, *, path: Path) -> YamlFile:
    """Return the one document of a file's text.

    Raises:
        ConfigError: It is not YAML, or repeats a key.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if expands_too_far(node):
            raise ConfigError(
                [
                    f"{path}: its aliases expand to more than {_MOST_NODES:,} values; a "
                    "configuration is far smaller"
                ]
            )
        document = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        raise ConfigError([f"{path}{syntax_error(error, text=text)}"]) from error
    except ReaderError as error:
        line = text[: error.position].count("\n") + 1
        reason = "YAML syntax error: a control character"
        raise ConfigError([f"{path}:{line}: {reason}"]) from error
    except RecursionError as error:
        raise ConfigError([f"{path}: {_TOO_DEEP}"]) from error
    if loader.repeated:
        raise ConfigError(f"{path}:{line}" for line in loader.repeated)
    return YamlFile(path=path, document=document, root=node)


def text_findings(value: object) -> Iterator[Finding]:
    """Find the texts with control characters, which no template can be read with.

    CloudFormation reads a template, JSON included, as YAML, which has no control characters but
    tabs and line breaks (https://yaml.org/spec/1.2.2/#51-character-set).
    """
    for path, text in _texts(value, ()):
        if found := Reader.NON_PRINTABLE.search(text):
            name = f"U+{ord(found.group()):04X}"
            message = f"must not hold the control character {name}, which no template can hold"
            yield error(path, text, message)


def token_findings(value: object) -> Iterator[Finding]:
    """Find CDK tokens: they stand for a value of the app that made them, not of a file."""
    for path, text in _texts(value, ()):
        if is_token(text):
            yield error(path, text, "must not hold a CDK token; write the value itself")


def _texts(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key, path)
            if isinstance(key, str):
                yield from _texts(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, str):
        yield path, value


def expands_too_far(root: Node | None) -> bool:
    """Tell whether a document with every alias written out is more than anybody writes."""
    return root is not None and _expanded(root, known={}) > _MOST_NODES


def _expanded(node: Node, *, known: dict[int, int]) -> int:
    """Return how many values a node is with every alias written out."""
    if isinstance(node, ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = 0  # an alias of itself, which is refused for its depth
        children = (
            [part for pair in node.value for part in pair]
            if isinstance(node, MappingNode)
            else node.value
        )
        known[id(node)] = 1 + sum(_expanded(child, known=known) for child in children)
    return known[id(node)]


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader that refuses what it would drop or turn into odd types."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[str] = []
        self._flattened: set[int] = set()

    def fetch_flow_collection_start(self, TokenClass: type) -> None:
        self._refuse_depth(self.flow_level)
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column: int) -> bool:
        self._refuse_depth(len(self.indents))
        return bool(super().add_indent(column))

    def _refuse_depth(self, depth: int) -> None:
        # The time that PyYAML takes grows with the square of the depth.
        if depth >= _DEEPEST_READ:
            raise ConstructorError(None, None, _TOO_DEEP, self.get_mark())

    def construct_object(self, node: Node, deep: bool = False) -> object:
        try:
            value: object = super().construct_object(node, deep)
            if isinstance(value, str):
                value.encode()
        except (ValueError, KeyError) as error:
            problem = f"{shown(node.value)} is not a value of its type"
            raise ConstructorError(None, None, problem, node.start_mark) from error
        if isinstance(value, int) and value.bit_length() > _LARGEST_INTEGER_BITS:
            raise ConstructorError(None, None, "the number is too large", node.start_mark)
        return value

    def flatten_mapping(self, node: MappingNode) -> None:
        # Before merge keys (<<) bring in keys that may be overridden; a mapping that is itself
        # merged comes here again, with these in it.
        if id(node) in self._flattened:
            return
        self._flattened.add(id(node))
        first: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, ScalarNode) or key.tag == _MERGE_TAG:
                continue
            line = key.start_mark.line + 1
            if key.value in first:
                self.repeated.append(
                    f"{line}:{key.start_mark.column + 1}: {shown(key.value)} is already set on "
                    f"line {first[key.value]} of the same mapping; keep one"
                )
            first.setdefault(key.value, line)
        super().flatten_mapping(node)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] not in _REFUSED_TAGS
}
