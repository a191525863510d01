"""The file itself: unreadable, not YAML, not a mapping, ambiguous."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.schema.yaml_file import read_yaml
from tests.conftest import Raises
from tests.support.refusals import lines_for

REST = "\ncluster: {instance_groups: [{name: g, instance_type: ml.m5.large, instance_count: 1}]}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing but a comment\n",
        "- a\n- b\n",
        "ml\n",
        "name: 0b_\n",
        "name: !!bool x\n",
        "name: ml\na: \x00\n",
        f"n: {'9' * 30}\n",
        "name: ml\nregion: us-west-2\nname: ml\n",
    ],
)
def test_text_that_is_no_configuration(text: str, snapshot: SnapshotAssertion) -> None:
    (line,) = lines_for(text)

    assert line == snapshot


@pytest.mark.parametrize("text", ["a: !!set {x, y}\n", 'a: "\\ud800"\n'])
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


def test_file_must_exist(tmp_path: Path, raises: Raises) -> None:
    with raises(ConfigError):
        load_config(tmp_path / "missing.yaml")


def test_a_file_of_megabytes_is_refused(snapshot: SnapshotAssertion) -> None:
    (line,) = lines_for(f"name: ml  # {'x' * 1024 * 1024}\n")

    assert line == snapshot


def test_file_must_be_utf8(tmp_path: Path, raises: Raises) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("name: ml\n# Zürich\n".encode("latin-1"))

    with raises(ConfigError):
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
    ("written", "wrong", "place"),
    [
        ("name: ml", 'name: "ml', "3:17"),
        ("name: ml", "name: 'ml", "1:7"),
        ("ml.m5.large", '"ml.m5.large', "6:11"),
        ('"1.34"', '"1.34" x', "3:6"),
        ("[a, b]", "[a, b", "2:8"),
        ("[a, b]", "[a, b}", "2:8"),
        ("[a, b]", "]", "2:8"),
        # Refused where it becomes too deep: what follows is not looked at.
        ("[a, b]", "{a: " * 2000, "2:408"),
        ("[a, b]", "\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 500)), "102:102"),
        ("[a, b]", ", a", "2:8"),
        ("name: ml", "name: @ml", "1:7"),
        ("name: ml", "name: `ml", "1:7"),
        ("name: ml", "name: %ml", "1:7"),
        ("name: ml", "name: ? ml", "1:7"),
        ("name: ml", "name: !ml", "1:7"),
        ("name: ml", "name: !<ml", "1:11"),
        ("name: ml", "%name: ml", "1:6"),
        ("name: ml", "%YAML 2.0\n---\nname: ml", "1:1"),
        ("name: ml", "%name\nname: ml", "2:1"),
        ("type: ml", "type ml", "6:5"),
        ("zones: [", "zones:[", "2:1"),
        ("name: ml", "name:ml", "2:6"),
        ("    type", "     type", "6:10"),
        ("    type", "   type", "6:4"),
        ("    type", "\ttype", "6:1"),
        ("name: ml", "name: ml: x", "1:9"),
        ("name: ml", ": ml", "1:1"),
        ("name: ml", "name: - ml", "1:7"),
        ("- name: cpu", "- a\n  name: cpu", "6:3"),
        ("name: ml", "name: ml\n- a", "2:1"),
        ("name: ml", "name: *ml", "1:7"),
        ("name: ml", "name: *", "1:8"),
        ("name: ml", "name: &", "1:8"),
        ("name: ml", 'name: "a\\q"', "1:10"),
        ("name: ml", 'name: "a\\xq"', "1:11"),
        ("name: ml", "name: | ml", "1:9"),
        ("name: ml", "name: >= ml", "1:8"),
        ("name: ml", "[a]: ml", "1:1"),
        ("name: ml", "<<: ml", "1:5"),
        ("name: ml", "name: ml\n---\na: b", "2:1"),
    ],
)
def test_a_syntax_error_in_plain_words(
    written: str, wrong: str, place: str, snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    text = CONFIG.replace(written, wrong, 1)

    found = line_of(tmp_path / "mine.yaml", text)

    assert found.startswith(f"{place}: YAML syntax error: ")
    assert found == snapshot


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
