"""The command that scales a group, after nodes were replaced and deleted, and what was called."""

import json
from pathlib import Path

import pytest

from emulator.hyperpod import Faults
from tests.support.on_call import CALLS, documented_actions, run
from tests.support.operator import Operator
from tests.support.patience import eventually

APP = """
import json, re, shutil, yaml

def main(*, config, output):
    shutil.copytree({assembly!r}, output, dirs_exist_ok=True)
    file = output / "ml-hyperpod.template.json"
    for group in yaml.safe_load(config.read_text())["cluster"]["instance_groups"]:
        name = r'(,[^,]+InstanceGroupName[^,]+' + group["name"] + r'[^,]+,)'
        number = rf'\\g<1>{{group["instance_count"]}}\\2'
        file.write_text(re.sub(r'(InstanceCount[^0-9,]+)[0-9]+' + name, number, file.read_text()))
"""
"""Synthesizes as the stage did, in no time, with the numbers of a configuration."""


@pytest.mark.slow(seconds=2)
def test_a_group_is_scaled_by_its_configuration(
    on_call: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = on_call.stage.config_path.read_text("utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    for name in ("Makefile", "cdk.json"):
        (tmp_path / name).write_text("deploy:\n\t@echo $(CONFIG) $(YES) >made; exit $(CODE)\n")
    assembly = str(on_call.stage.work_directory / "cdk.out")
    (tmp_path / "app.py").write_text(APP.format(assembly=assembly), "utf-8")
    monkeypatch.chdir(tmp_path)

    def scale(group: str, count: int, *, fails: int, code: int) -> str:
        options = ("--config", str(file), "--yes")
        return run(on_call, "scale", group, str(count), *options, code=code, CODE=str(fails))

    # Another group was changed by hand: its node would go without having been shown.
    edited = text.replace("instance_count: 1", "instance_count: 0", 1)
    file.write_text(edited, "utf-8")
    told = scale("worker-group-2", 2, fails=0, code=2)
    assert f"{file}: differs from what is deployed already, in ml-hyperpod" in told
    assert "make diff" in told
    assert file.read_text("utf-8") == edited
    assert not (tmp_path / "made").exists()
    file.write_text(text, "utf-8")
    # The deployment failed and the group has the former number: so has the file.
    told = scale("worker-group-2", 3, fails=1, code=2)
    assert "is as it was before, because the deployment changed nothing" in told
    assert file.read_text("utf-8") == text
    assert (tmp_path / "made").read_text("utf-8") == f"{file} 1\n"
    # The group has the number wanted, since its node was deleted: so has the file.
    assert "says instance_count 1 of 'worker-group-1' already" in scale(
        "worker-group-1", 1, fails=0, code=2
    )
    assert "keeps 0, which AWS has" in scale("worker-group-1", 0, fails=1, code=2)
    # That number is in no template yet, so it is deployed first.
    assert "differs from what is deployed" in scale("worker-group-2", 2, fails=0, code=2)
    file.write_text(text, "utf-8")
    assert scale("worker-group-2", 2, fails=0, code=0)
    assert file.read_text("utf-8").count("instance_count: 2") == 1
    (tmp_path / "cdk.json").unlink()
    assert "is not the folder of the project" in scale("worker-group-2", 4, fails=0, code=2)


@pytest.mark.slow(seconds=4)
def test_a_shortage_is_explained_and_told_once(on_call: Operator) -> None:
    environment = on_call.stage.environment
    group = "worker-group-2"
    environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group}))
    run(on_call, "replace", group, "--yes", "--no-wait")
    arguments = ("events", "--level", "error", "--json")
    eventually(lambda: json.loads(run(on_call, *arguments)))
    text = run(on_call, "status")
    assert "1 more is wanted." in text
    assert "1 node is without an instance yet:\n1 of worker-group-2  Pending" in text
    assert "capacity: We currently do not have sufficient capacity" in text
    assert "Wait or try again later" in text
    assert "orchestration-ready" not in text
    environment.hyperpod.faults = Faults()
    eventually(lambda: "healthy." in run(on_call, "status"))

    told = json.loads(run(on_call, *arguments))
    events = environment.clients("sagemaker").list_cluster_events(ClusterName="ml-cluster")
    listed = [each for each in events["Events"] if each["EventLevel"] == "Error"]
    assert len(listed) == 2 * len(told)
    assert {each["kind"] for each in told} == {"capacity"}


@pytest.mark.slow(seconds=2)
def test_events_are_explained(on_call: Operator) -> None:
    found = json.loads(run(on_call, "events", "--since", "1h", "--level", "warn", "--json"))
    texts = [each["description"] for each in found]
    assert "BatchReplaceClusterNodes was called" in run(on_call, "status")
    assert any("is being replaced" in text for text in texts)
    assert {each["level"] for each in found} <= {"Warn", "Error"}
    assert "There are no such events." in run(on_call, "events", "--since", "0s")
    assert "which has: worker-group-1, worker-group-2" in run(
        on_call, "events", "--group", "none", code=2
    )


@pytest.mark.slow(seconds=1)
def test_the_page_names_what_the_commands_call(on_call: Operator) -> None:
    run(on_call, "list")
    run(on_call, "env")
    run(on_call, "cluster-config")
    # In IAM's spelling: the service's prefix is that of its endpoint for all of these.
    documented = documented_actions()
    assert set(CALLS) == set(documented), (
        "each command of the page is run by a test of a module above"
    )
    unknown_cluster = {"sagemaker:ListClusters", "sagemaker:ListTags"}
    for command, called in CALLS.items():
        needed = called - (unknown_cluster if command != "list" else set())
        assert needed == documented[command], f"docs/operating.md, Permissions: {command}"
