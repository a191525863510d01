"""What `hyperpod-cdk validate` says of a configuration."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import ran

GROUPS = "[{name: worker, instance_type: ml.g5.xlarge, instance_count: 1}]"


def validated(config: Path) -> tuple[int, list[str], str]:
    """Return the exit code, the lines and the errors of the command."""
    said = ran("validate", "--config", config)
    return said.code, said.out.splitlines(), said.err


def test_it_lists_stacks_groups_and_warnings(repository: Path) -> None:
    path = repository / "config" / "default.yaml"
    code, lines, error = validated(path)
    assert (code, error) == (0, "")
    assert lines[0] == f"{path} is valid. It deploys:"
    assert lines[1].split()[:3] == ["ml-platform", "in", "us-west-2:"]
    assert "GiB at 250 MB/s/TiB, retained" in lines[2]
    assert lines[3].split()[:2] == ["ml-addons", "CoreDNS"]
    assert lines[5].strip() == "- worker-group-1: 1 x ml.g5.12xlarge"
    assert lines[7].startswith("Cost at list prices of ")
    # `deploy` says it, once.
    assert "eks.admins" not in "\n".join(lines)


def test_a_version_that_has_ended_may_be_deployed(tmp_path: Path) -> None:
    """Only the account tells, which preflight asks."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"name: ml\ncluster: {{instance_groups: {GROUPS}}}\neks: {{version: '1.30'}}\n", "utf-8"
    )
    code, lines, error = validated(path)
    assert (code, error) == (0, "")
    assert any(line.startswith("WARNING eks.version: '1.30'") for line in lines)


def test_without_storage_there_is_no_storage_stack(repository: Path) -> None:
    _, lines, _ = validated(repository / "config" / "spot-dev.yaml")
    assert not any("-storage" in line for line in lines)
    assert any(" or ml.g5.4xlarge or " in line for line in lines)


def test_a_chart_that_deploy_packages_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, lines, _ = validated(repository / "config" / "default.yaml")
    assert code == 0
    assert "helm.chart" not in "\n".join(lines)


def data(config: Path) -> tuple[int, dict[str, Any]]:
    """Return the exit code of the command, and what it writes as JSON."""
    said = ran("validate", config, "--json")
    assert said.err == ""
    return said.code, json.loads(said.out)


def test_json_has_what_is_deployed_and_its_warnings(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (repository / "config" / "default.yaml").read_text("utf-8")
    path.write_text(f"{text}observability: {{budget: {{monthly_usd: 1, emails: [a@b.example]}}}}\n")

    code, found = data(path)

    assert (code, found["valid"], found["config"]) == (0, True, str(path))
    assert found["deploys"][0].startswith("ml-platform ")
    assert found["cost"]["currency"] == "USD"
    assert found["cost"]["month"] > 0 < found["cost"]["nodes_hour"]
    budget = [each for each in found["findings"] if each["rule"] == "budget"]
    assert [(each["severity"], each["key"]) for each in budget] == [
        ("warning", "observability.budget.monthly_usd")
    ]
    assert budget[0]["line"] == len(text.splitlines()) + 1


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("name: ML\nmonitoring: {}\n", [(1, "name"), (2, "monitoring"), (1, "cluster")]),
        ("name: [", [(None, None)]),
    ],
)
def test_json_has_what_is_refused(
    tmp_path: Path, text: str, places: list[tuple[int | None, str | None]]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)

    code, found = data(path)

    assert (code, found["valid"], found["deploys"], found["cost"]) == (2, False, [], None)
    assert {each["severity"] for each in found["findings"]} == {"error"}
    assert sorted(found["findings"][0]) == [
        "file",
        "key",
        "line",
        "message",
        "rule",
        "severity",
        "value",
    ]
    assert {(each["line"], each["key"]) for each in found["findings"]} == {*places}


def test_what_the_chart_lacks_is_refused(tmp_path: Path) -> None:
    chart, path = tmp_path / "chart", tmp_path / "mine.yaml"
    chart.mkdir()
    (chart / "Chart.yaml").write_text("name: chart\n")
    path.write_text(
        f"name: ml\ncluster: {{instance_groups: {GROUPS}}}\n"
        f"helm:\n  chart: {chart}\n  values: {{mpi-operater: {{}}}}\n"
    )
    code, lines, error = validated(path)
    assert (code, lines) == (2, [])
    assert error.startswith(f"{path}:5: helm.values.mpi-operater: ")


def test_a_configuration_that_cannot_be_deployed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: ML\n")
    code, lines, error = validated(tmp_path / "bad.yaml")
    assert (code, lines) == (2, [])
    assert error.startswith(f"{tmp_path}/bad.yaml")


def test_it_does_not_wait_for_the_cdk(repository: Path) -> None:
    program = (
        "import atexit, os, sys; from hyperpod_cli.main import main; "
        "atexit.register(lambda: os._exit(3) if 'aws_cdk' in sys.modules else None); main()"
    )
    validation = subprocess.run(
        [sys.executable, "-c", program, "validate"], cwd=repository, check=False
    )
    assert validation.returncode == 0


def test_a_reader_that_stops_reading_sees_no_traceback(repository: Path) -> None:
    validation = subprocess.Popen(
        [sys.executable, "-m", "hyperpod_cli", "validate"],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert validation.stdout is not None
    validation.stdout.close()
    _, said = validation.communicate()
    assert (validation.returncode, said) == (1, "")


def test_it_says_what_shellcheck_finds_in_scripts_of_ones_own(
    monkeypatch: pytest.MonkeyPatch,
    repository: Path,
    tmp_path: Path,
) -> None:
    example = repository / "config" / "examples" / "own-scripts.yaml"
    path = tmp_path / "mine.yaml"
    path.write_text(example.read_text("utf-8"), "utf-8")
    scripts = shutil.copytree(example.with_suffix(""), tmp_path / "own-scripts")
    code, before, _ = validated(path)
    assert code == 0
    with (scripts / "on_create.sh").open("a", encoding="utf-8") as script:
        script.write("cd $missing\n")

    code, after, _ = validated(path)

    assert code == 0  # shellcheck knows no more than the author
    (found, *rest) = [line for line in after if line not in before]
    assert found.startswith(f"WARNING {scripts}/on_create.sh:")
    assert found.endswith("[SC2154]")
    assert rest == []

    monkeypatch.setenv("PATH", str(tmp_path))  # without shellcheck
    assert validated(path)[1] == before


def test_it_says_what_shellcheck_finds_in_a_health_check(
    repository: Path,
    tmp_path: Path,
) -> None:
    example = repository / "config" / "examples" / "node-health.yaml"
    path = Path(shutil.copy(example, tmp_path))
    scripts = shutil.copytree(example.with_suffix(""), tmp_path / "node-health")
    with (scripts / "gpus.sh").open("a", encoding="utf-8") as script:
        script.write("cd $missing\n")

    code, lines, _ = validated(path)

    assert code == 0
    assert any(line.startswith(f"WARNING {scripts}/gpus.sh:") for line in lines)
