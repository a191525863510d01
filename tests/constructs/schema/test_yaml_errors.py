"""A file that is not YAML is refused in words that need no knowledge of a parser."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cdk import ConfigError
from hyperpod_cdk.schema.yaml_file import read_yaml

CONFIG = """\
name: ml
zones: [a, b]
eks: {version: "1.34"}
groups:
  - name: cpu
    type: ml.m5.large
"""
QUOTES = "write the value in quotes"
INDENTATION = (
    "the indentation fits none of the lines above; begin the keys of one mapping, and the dashes "
    "of one list, in the same column"
)
NOT_A_KEY = (
    "this line or the one above it is not `key: value`; check the indentation, and the space "
    "behind the colon"
)
ENTRIES = (
    "a key among the entries of a list; begin each entry with a dash and a space, and a key of an "
    "entry in the column of the entry's first key"
)
MARKS = f"* and & mark and repeat values; if that is not meant, {QUOTES}"
BLOCK_TEXT = f"| and > begin a text of several lines; if that is not meant, {QUOTES}"
DIRECTIVE = "a line cannot begin with %; write the key in quotes"
ESCAPE = "\\ begins a special character in double quotes; write the value in single quotes"
PARSER_WORDS = re.compile(
    r"scalar|block (mapping|sequence|collection|end|node)|flow|token|stream|constructor|while |"
    r"unhashable|expected"
)


def line_of(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    (line,) = caught.value.lines
    return line.removeprefix(f"{path}:")


@pytest.mark.parametrize(
    ("written", "wrong", "line"),
    [
        ("name: ml", 'name: "ml', "3:17: text behind a closing quote; check where the quotes"),
        ("name: ml", "name: 'ml", "1:7: the quote that begins here is not closed"),
        ("ml.m5.large", '"ml.m5.large', "6:11: the quote that begins here is not closed"),
        ('"1.34"', '"1.34" x', "3:6: the { that stands here has no }, or a comma is missing"),
        ("[a, b]", "[a, b", "2:8: the [ that stands here has no ], or a comma is missing"),
        ("[a, b]", "[a, b}", "2:8: the [ that stands here has no ], or a comma is missing"),
        ("[a, b]", "]", f"2:8: a value cannot begin with ]; {QUOTES}"),
        ("[a, b]", ", a", f"2:8: a value cannot begin with ,; {QUOTES}"),
        ("name: ml", "name: @ml", f"1:7: a value cannot begin with @; {QUOTES}"),
        ("name: ml", "name: `ml", f"1:7: a value cannot begin with `; {QUOTES}"),
        ("name: ml", "name: %ml", f"1:7: a value cannot begin with %; {QUOTES}"),
        ("name: ml", "name: ? ml", f"1:7: a value cannot begin with ?; {QUOTES}"),
        ("name: ml", "name: !ml", f"1:7: a value cannot begin with !; {QUOTES}"),
        ("name: ml", "name: !<ml", f"1:11: a value cannot begin with !; {QUOTES}"),
        ("name: ml", "%name: ml", f"1:6: {DIRECTIVE}"),
        ("name: ml", "%YAML 2.0\n---\nname: ml", f"1:1: {DIRECTIVE}"),
        ("name: ml", "%name\nname: ml", "2:1: this does not continue what stands above; check"),
        ("type: ml", "type ml", "6:5: this has no colon and no space behind it, as in `key: val"),
        ("zones: [", "zones:[", "2:1: this has no colon and no space behind it, as in `key: val"),
        ("name: ml", "name:ml", f"2:6: {NOT_A_KEY}"),
        ("    type", "     type", f"6:10: {NOT_A_KEY}"),
        ("    type", "   type", f"6:4: {INDENTATION}"),
        ("    type", "\ttype", "6:1: a tab; indent with spaces, not tabs"),
        ("name: ml", "name: ml: x", f"1:9: a colon and a space inside a value; {QUOTES}"),
        ("name: ml", ": ml", "1:1: a colon without a key"),
        ("name: ml", "name: - ml", "1:7: a list begins on the line below its key"),
        ("- name: cpu", "- a\n  name: cpu", f"6:3: {ENTRIES}"),
        ("name: ml", "name: ml\n- a", "2:1: an entry of a list among the keys of a mapping"),
        ("name: ml", "name: *ml", "1:7: *ml repeats what is marked with &ml, and nothing is; if"),
        ("name: ml", "name: *", f"1:8: {MARKS}"),
        ("name: ml", "name: &", f"1:8: {MARKS}"),
        ("name: ml", 'name: "a\\q"', f"1:10: {ESCAPE}"),
        ("name: ml", 'name: "a\\xq"', f"1:11: {ESCAPE}"),
        ("name: ml", "name: | ml", f"1:9: {BLOCK_TEXT}"),
        ("name: ml", "name: >= ml", f"1:8: {BLOCK_TEXT}"),
        ("name: ml", "[a]: ml", "1:1: a key must be text, not a list or a mapping"),
        ("name: ml", "<<: ml", "1:5: << takes a mapping that is marked with & elsewhere, such as"),
        ("name: ml", "name: ml\n---\na: b", "2:1: a configuration is one document; remove what"),
    ],
)
def test_a_syntax_error_in_plain_words(written: str, wrong: str, line: str, tmp_path: Path) -> None:
    place, _, sentence = line.partition(": ")
    text = CONFIG.replace(written, wrong, 1)

    found = line_of(tmp_path / "mine.yaml", text)

    assert found.startswith(f"{place}: YAML syntax error: {sentence}")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken") / "mine.yaml"


@settings(max_examples=200, deadline=None)
@given(
    at=st.integers(0, len(CONFIG)),
    put=st.text(alphabet="\"'[]{}:,-?*&!|>%@`# \t\n\\<a", min_size=1, max_size=4),
    drop=st.integers(0, 3),
)
def test_no_error_has_the_words_of_a_parser(file: Path, at: int, put: str, drop: int) -> None:
    file.write_text(CONFIG[:at] + put + CONFIG[at + drop :], encoding="utf-8")

    try:
        read_yaml(file)
    except ConfigError as error:
        for line in error.lines:
            assert re.match(rf"{file}:\d+", line)
            assert PARSER_WORDS.search(line.removeprefix(str(file))) is None
