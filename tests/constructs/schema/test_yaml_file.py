"""The file itself: unreadable, not YAML, not a mapping, ambiguous."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.schema.yaml_file import read_yaml
from tests.support.refusals import lines_for

REST = "\ncluster: {instance_groups: [{name: g, instance_type: ml.m5.large, instance_count: 1}]}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty; name and cluster.instance_groups are required"),
        ("# nothing but a comment\n", "is empty; name and cluster.instance_groups are required"),
        ("- a\n- b\n", "['a', 'b'] must be a mapping of keys to values, such as `name: ml`"),
        ("ml\n", "'ml' must be a mapping of keys to values, such as `name: ml`"),
        ("name: 0b_\n", "YAML syntax error: '0b_' is not a value of its type"),
        ("name: !!bool x\n", "YAML syntax error: 'x' is not a value of its type"),
        ("name: ml\na: \x00\n", "YAML syntax error: a control character"),
        (
            f"n: {'9' * 30}\n",
            "YAML syntax error: the number is too large",
        ),
        (
            "name: ml\nregion: us-west-2\nname: ml\n",
            "'name' is already set on line 1 of the same mapping; keep one",
        ),
    ],
)
def test_text_that_is_no_configuration(text: str, line: str) -> None:
    assert lines_for(text) == (line,)


@pytest.mark.parametrize(
    "text",
    [
        "a: !!set {x, y}\n",
        'a: "\\ud800"\n',
    ],
)
def test_odd_yaml_is_refused_in_lines(text: str) -> None:
    assert lines_for(text)


def test_every_repeated_key_is_reported(tmp_path: Path) -> None:
    text = "tags: {a: x, a: y}\nnetwork:\n  vpc_cidr: 10.0.0.0/16\n  vpc_cidr: 10.0.0.0/16\n"

    path = tmp_path / "config.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load_config(path)

    assert [line.partition(" ")[0] for line in caught.value.lines] == [
        f"{path}:1:14:",
        f"{path}:4:3:",
    ]


def test_file_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"

    with pytest.raises(ConfigError) as caught:
        load_config(path)

    assert caught.value.lines == (
        f"{path}: cannot be read: No such file or directory; give the path of a YAML "
        "configuration file, or write one with `hyperpod-cdk init`",
    )


def test_a_file_of_megabytes_is_refused() -> None:
    (line,) = lines_for(f"name: ml  # {'x' * 1024 * 1024}\n")

    assert line.startswith("has 1,048,5")
    assert line.endswith("a configuration has at most 1,048,576")


def test_file_must_be_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("name: ml\n# Zürich\n".encode("latin-1"))

    with pytest.raises(ConfigError, match=":2: the file must be UTF-8 text"):
        load_config(path)


def test_anchors_and_merges_are_welcome(tmp_path: Path) -> None:
    path = tmp_path / "anchors.yaml"
    path.write_text(
        "name: ml\n"
        "cluster:\n"
        "  instance_groups:\n"
        "    - &cpu {name: a, instance_type: ml.m5.large, instance_count: 2}\n"
        "    - {<<: *cpu, name: b}\n"
    )

    first, second = load_config(path).cluster.instance_groups

    assert second == first.model_copy(update={"name": "b"})


def test_dates_and_words_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "text.yaml"
    path.write_text("name: ml\ntags: {since: 2026-01-31, mode: None}" + REST)

    assert load_config(path).tags == {"since": "2026-01-31", "mode": "None"}


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_text("name: ml" + REST, encoding="utf-8-sig")

    assert load_config(path).name == "ml"


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
        # Refused where it becomes too deep: what follows is not looked at.
        ("[a, b]", "{a: " * 2000, "2:408: nested too deeply to be a configuration"),
        ("[a, b]", "\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 500)), "102:102: nested too"),
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
