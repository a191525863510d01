"""The file itself: unreadable, not YAML, not a mapping, ambiguous."""

import os
from pathlib import Path

import pytest

from hyperpod_cdk import ConfigError, load_config
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
        "a: !!python/object/apply:os.getcwd []\n",
        "a: 1\n--- \nb: 2\n",
        "? [a]\n: b\n",
        'a: "\\ud800"\n',
        "a: " + "[" * 5000,
        "a:\n\t- b\n",
        "helm: {values: &v {again: *v}}\n",
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
        "configuration file, or write one with `make init`",
    )


@pytest.mark.parametrize(
    "levels", [pytest.param(6, id="million"), pytest.param(40, id="more-than-memory")]
)
def test_aliases_that_expand_without_end_are_refused(levels: int) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{aliases}]")

    (line,) = lines_for("\n".join(lines))

    assert line.startswith("its aliases expand to more than 100,000 values")


def test_aliases_within_reason_are_read(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "name: ml\ncluster:\n  instance_groups:\n"
        "    - &g {name: g, instance_type: ml.m5.large, instance_count: 1}\n"
        "    - {<<: *g, name: h}\n"
    )

    assert [group.name for group in load_config(path).cluster.instance_groups] == ["g", "h"]


def test_a_file_of_megabytes_is_refused() -> None:
    (line,) = lines_for(f"name: ml  # {'x' * 1024 * 1024}\n")

    assert line.startswith("has 1,048,5")
    assert line.endswith("a configuration has at most 1,048,576")


def test_what_would_never_end_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)

    for path in (pipe, Path(os.devnull).with_name("zero")):
        with pytest.raises(ConfigError, match="is not a file; give the path"):
            load_config(path)


def test_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a file; give the path"):
        load_config(tmp_path)


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
