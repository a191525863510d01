"""Rules on the user's health check: one mistake, one line, with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import ConfigError, NodeHealthConfig, load_config
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.refusals import lines_for

GOOD = b"#!/bin/sh\nexit 0\n"
SCHEMA = REPOSITORY / "charts" / "node-health" / "values.schema.json"
EXAMPLE = CONFIG_FOLDER / "examples" / "node-health.yaml"


def refusal(**values: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        NodeHealthConfig(**values)
    (line,) = caught.value.lines
    return line


@pytest.mark.parametrize(
    ("content", "part"),
    [
        pytest.param(b"exit 0\n", "begin it with #!/bin/sh", id="no-first-line"),
        pytest.param(b"", "begin it with #!/bin/sh", id="empty"),
        pytest.param(b"#!/bin/sh\r\nexit 0\r\n", "sed -i 's/\\r$//' ", id="windows"),
        pytest.param(b"#!/bin/sh\n\xff\n", "must be text in UTF-8", id="binary"),
        pytest.param(b"#!/bin/sh\n" + b"#" * 99_991, "has 100,001 characters", id="long"),
    ],
)
def test_a_script_that_no_node_could_run(content: bytes, part: str, tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_bytes(content)

    line = refusal(script=str(script))

    # A long path is cut in the middle.
    assert line.startswith("NodeHealthConfig.script: '")
    assert part in line


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda _: None, id="missing"),
        pytest.param(Path.mkdir, id="folder"),
        pytest.param(lambda path: path.symlink_to("nowhere"), id="broken-link"),
    ],
)
def test_no_script(make: Callable[[Path], None], tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    make(script)

    assert f"must be a script; '{script}' is not a file" in refusal(script=str(script))


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("interval_seconds", 9, "must be 10 to 86400"),
        ("interval_seconds", 86_401, "must be 10 to 86400"),
        ("failures", 0, "must be 1 to 100"),
        ("failures", True, "must be a whole number"),
        ("max_at_once", 26, "must be 1 to 25"),
        ("action", "Reboot", "did you mean reboot?"),
        ("image", "python:3.13", "must end with the digest of an image"),
    ],
)
def test_a_value_that_the_chart_refuses(key: str, value: object, part: str, tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_bytes(GOOD)

    line = refusal(script=str(script), **{key: value})

    assert line.startswith(f"NodeHealthConfig.{key}: ")
    assert part in line


def test_the_limits_are_the_charts() -> None:
    chart = json.loads(SCHEMA.read_text("utf-8"))["properties"]
    own = NodeHealthConfig.model_json_schema()["properties"]

    for key, value in (
        ("interval_seconds", "intervalSeconds"),
        ("failures", "failures"),
        ("max_at_once", "maxAtOnce"),
    ):
        limits = {name: own[key][name] for name in ("type", "minimum", "maximum")}
        assert limits == chart[value]
    assert own["action"]["enum"] == chart["action"]["enum"]
    assert f"{chart['script']['maxLength']:,} characters" in own["script"]["description"]


def test_the_script_is_beside_the_file() -> None:
    health = load_config(EXAMPLE).node_health

    assert health is not None
    assert Path(health.script) == EXAMPLE.with_suffix("") / "gpus.sh"


def test_a_mistake_of_a_file_is_one_line() -> None:
    document = EXAMPLE.read_text("utf-8")

    (line,) = lines_for(document)

    assert line.startswith("node_health.script: 'node-health/gpus.sh' must be a script; ")
