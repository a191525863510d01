"""What is wrong with a file that is not YAML, in words for whoever wrote it."""

import re

from yaml.error import MarkedYAMLError

_NOT_YAML = "this cannot be read; check the quotes, the brackets and the indentation here and above"
_INDENTATION = (
    "the indentation fits none of the lines above; begin the keys of one mapping, and the dashes "
    "of one list, in the same column"
)
_IN_QUOTES = "write the value in quotes"
_TWO_COLONS = f"a colon and a space inside a value; {_IN_QUOTES}"
_DIRECTIVE = "a line cannot begin with %; write the key in quotes"
_BLOCK_TEXT = f"| and > begin a text of several lines; if that is not meant, {_IN_QUOTES}"

# PyYAML's words, what is said instead, and whether that is about where the construct begins.
_SENTENCES: tuple[tuple[str, str, bool], ...] = (
    ("^ ?(.* is not a value of its type|the number is too large)$", r"\1", False),
    (r"'\\t'", "a tab; indent with spaces, not tabs", False),
    ("scanning a quoted scalar", "the quote that begins here is not closed", True),
    (
        "parsing a flow sequence",
        "the [ that stands here has no ], or a comma is missing between its entries",
        True,
    ),
    (
        "parsing a flow mapping",
        "the { that stands here has no }, or a comma is missing between its keys",
        True,
    ),
    (r"character '(.)' that cannot start", rf"a value cannot begin with \1; {_IN_QUOTES}", False),
    (r"node content, but found '(\S+)'", rf"a value cannot begin with \1; {_IN_QUOTES}", False),
    ("mapping keys are not allowed", f"a value cannot begin with ?; {_IN_QUOTES}", False),
    (
        "could not find expected ':'",
        "this has no colon and no space behind it, as in `key: value`",
        True,
    ),
    (
        "mapping values are not allowed",
        "this line or the one above it is not `key: value`; check the indentation, and the space "
        "behind the colon",
        False,
    ),
    ("sequence entries are not allowed", "a list begins on the line below its key", False),
    (
        r"<block end>, but found '<scalar>'",
        "text behind a closing quote; check where the quotes above begin and end",
        False,
    ),
    ("<block end>, but found '<block mapping start>'", _INDENTATION, False),
    ("<block end>, but found '<block sequence start>'", _INDENTATION, False),
    (
        r"block collection expected <block end>, but found '\?'",
        "a key among the entries of a list; begin each entry with a dash and a space, and a key of "
        "an entry in the column of the entry's first key",
        False,
    ),
    (
        "block mapping expected <block end>, but found '-'",
        "an entry of a list among the keys of a mapping; check the indentation",
        False,
    ),
    ("block mapping expected <block end>, but found ':'", "a colon without a key", False),
    (
        r"undefined alias '(.+)'",
        rf"*\1 repeats what is marked with &\1, and nothing is; if that is not meant, {_IN_QUOTES}",
        False,
    ),
    (
        "scanning an (alias|anchor)|found '<(alias|anchor)>'|duplicate anchor",
        f"* and & mark and repeat values; if that is not meant, {_IN_QUOTES}",
        False,
    ),
    (
        "for the tag|(parsing|scanning) a tag|while parsing a node|found '<tag>'",
        f"a value cannot begin with !; {_IN_QUOTES}",
        False,
    ),
    (
        "single document",
        "a configuration is one document; remove what follows",
        False,
    ),
    (
        "double-quoted scalar",
        r"\\ begins a special character in double quotes; write the value in single quotes",
        False,
    ),
    ("scanning a block scalar", _BLOCK_TEXT, False),
    ("unhashable key", "a key must be text, not a list or a mapping", False),
    ("for merging", "<< takes a mapping that is marked with & elsewhere, such as *group", False),
    ("directive|incompatible YAML document", _DIRECTIVE, False),
    (
        "document start",
        "this does not continue what stands above; check the indentation, and that no line above "
        "begins with %",
        False,
    ),
)


def syntax_error(error: MarkedYAMLError, *, text: str) -> str:
    """Return where a text is not YAML and why: `:<line>:<column>: <sentence>`.

    Args:
        error: What PyYAML says of the text, or the loader in its place.
        text: The text.
    """
    words = " ".join(f"{error.context or ''} {error.problem or ''}".split())
    sentence, begins = _NOT_YAML, False
    for pattern, template, is_about_the_begin in _SENTENCES:
        if (found := re.search(pattern, words)) is not None:
            sentence, begins = found.expand(template), is_about_the_begin
            break
    mark = (error.context_mark if begins else None) or error.problem_mark
    if mark is None:
        return f": YAML syntax error: {sentence}"
    if "mapping values" in words and ": " in text.splitlines()[mark.line][: mark.column]:
        sentence = _TWO_COLONS
    return f":{mark.line + 1}:{mark.column + 1}: YAML syntax error: {sentence}"
