"""Scripts of the user's own, which a node runs after the project's."""

import shutil
from pathlib import Path

import pytest

from hyperpod_emulator.node.node import NodeInstance
from hyperpod_rehearsal.environment import SCRIPTS_AT_ONCE
from tests.support.changed_node import SCRIPTS
from tests.support.configs import CONFIG_FOLDER

EXAMPLE = CONFIG_FOLDER / "examples" / "own-scripts"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Return the project's scripts with the example's beside them, as in the bucket: no modes."""
    folder = tmp_path / "bucket"
    shutil.copytree(SCRIPTS, folder)
    shutil.copytree(EXAMPLE, folder / "own")
    (folder / "deployment.env").write_text("OWN_SCRIPTS=after\n")
    for path in folder.rglob("*.sh"):
        path.chmod(0o644)
    return folder


def node_with(scripts: Path) -> NodeInstance:
    """Return a node that gets these scripts as they are now."""
    directory = scripts.with_name("node")
    directory.mkdir()
    made = NodeInstance(directory, scripts=scripts, environment=SCRIPTS_AT_ONCE)
    made.mount("/opt/sagemaker")
    return made


def test_they_run_after_the_projects(scripts: Path) -> None:
    node = node_with(scripts)
    run = node.run()

    assert run.code == 0, run.output
    last = [line.partition(" ")[2] for line in run.output.splitlines()[-2:]]
    assert last[0].startswith("[own/on_create.sh] ")
    assert last[1] == "done: every step succeeded"
    assert "DefaultLimitMEMLOCK=infinity" in node.read("etc/systemd/system.conf.d/90-limits.conf")


def test_a_failure_of_theirs_fails_the_node_and_is_reported_as_one_of_the_projects(
    scripts: Path,
) -> None:
    (scripts / "own" / "on_create.sh").write_text("#!/bin/sh\necho no licence >&2\nexit 9\n")
    node = node_with(scripts)

    run = node.run()

    log = node.read("var/log/provision/provisioning.log")
    assert run.code == 9
    assert "[own/on_create.sh] no licence" in log
    assert "ERROR step own/on_create.sh" in log
    assert "done: every step" not in log


def test_they_do_not_run_on_a_node_that_the_projects_scripts_give_up(scripts: Path) -> None:
    (scripts / "steps" / "kubelet_directory.sh").write_text("exit 3\n")

    run = node_with(scripts).run()

    assert run.code == 3
    assert "[own/on_create.sh]" not in run.output


def test_they_may_be_of_another_language(scripts: Path) -> None:
    (scripts / "own" / "on_create.sh").write_text("#!/usr/bin/awk -f\nBEGIN { print ARGC }\n")

    assert "[own/on_create.sh] 1" in node_with(scripts).run().output


@pytest.mark.parametrize("settings", [None, "LUSTRE_FAILURE=warn\n", "OWN_SCRIPTS=\n"])
def test_a_planted_script_does_not_run(scripts: Path, settings: str | None) -> None:
    (scripts / "own" / "on_create.sh").write_text("#!/bin/sh\necho I am $(id -u)\n")
    (scripts / "deployment.env").unlink()
    if settings is not None:
        (scripts / "deployment.env").write_text(settings)

    run = node_with(scripts).run()

    assert run.code == 0, run.output
    assert "own/on_create.sh" not in run.output


def test_a_script_of_theirs_that_is_missing_fails_the_node(scripts: Path) -> None:
    shutil.rmtree(scripts / "own")

    run = node_with(scripts).run()

    assert run.code != 0
    assert "ERROR step own/on_create.sh failed" in run.output
