"""The commands that restart, replace and delete nodes."""

import json
from pathlib import Path

import pytest

from emulator.hyperpod import Faults
from hyperpod_cli.operate.clusters.cluster import nodes_of
from tests.support.on_call import run
from tests.support.operator import Operator
from tests.support.patience import eventually

FAST = ("--every", "0.1")


@pytest.mark.slow(seconds=3)
def test_nodes_are_restarted_replaced_and_deleted(on_call: Operator, tmp_path: Path) -> None:
    sagemaker = on_call.stage.environment.clients("sagemaker")
    ids = [node.id for node in nodes_of(sagemaker, "ml-cluster")]
    with_pod(on_call, ids[0], folder=tmp_path)
    refused = run(on_call, "reboot", ids[0], code=2)
    assert "ends pod default/mine" in refused
    assert refused.splitlines()[-1].startswith("--yes: is missing, and there is no terminal")

    assert run(on_call, "reboot", *ids, "--yes", *FAST).count(": done") == 2
    text = run(on_call, "replace", "worker-group-1", "--yes", *FAST)
    assert text.splitlines()[-1] == "worker-group-1: done"
    replaced = [node.id for node in nodes_of(sagemaker, "ml-cluster")]
    assert replaced[0] != ids[0] and replaced[1] == ids[1]
    many = run(on_call, "delete", *(f"worker-group-1/{n}" for n in range(26)), code=2)
    assert many == (
        "nodes: 26 are too many; delete takes up to 25 at once: run it again for the others when "
        "these are done\n"
    )

    text = run(on_call, "delete", "worker-group-1", "--yes", *FAST)
    assert "Group worker-group-1 will have 0 of now 1 nodes." in text
    given = f"--config {on_call.stage.config_path}"
    assert f"To have both agree: hyperpod-ops scale worker-group-1 0 {given}" in text
    assert [node.id for node in nodes_of(sagemaker, "ml-cluster")] == ids[1:]
    told = run(on_call, "connect", "worker-group-1", code=2)
    assert told.startswith("node: group 'worker-group-1' of ml-cluster has no nodes now; see")
    assert "it has worker-group-2/1" in run(on_call, "reboot", replaced[0], code=2)


def with_pod(operator: Operator, instance: str, *, folder: Path) -> None:
    """Have a pod of a user run on a node."""
    spec = {"nodeName": f"hyperpod-{instance}", "containers": [{"name": "a", "image": "a"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine"}, "spec": spec}
    file = folder / "pod.json"
    file.write_text(json.dumps(pod), "utf-8")
    done, told = operator.stage.tools.run(f"kubectl apply -f {file}")
    assert done, told


@pytest.mark.slow(seconds=2)
def test_what_aws_does_not_accept_is_told(on_call: Operator) -> None:
    sagemaker = on_call.stage.environment.clients("sagemaker")
    (node,) = nodes_of(sagemaker, "ml-cluster")
    hyperpod = on_call.stage.environment.hyperpod
    hyperpod.faults = Faults(slow_nodes={node.group: 4.0})
    run(on_call, "replace", node.id, "--yes", "--no-wait")

    def refused() -> bool:
        # On a slow machine what took its place runs by now, and is replaced as well.
        told = on_call.run("replace", node.group, "--yes", "--no-wait")
        assert told.exit_code in (0, 2), told.output
        return ": not accepted: InvalidInstanceStatus: " in told.output

    eventually(refused)
    hyperpod.faults = Faults()
    wait_until_settled(on_call)


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow(seconds=1)
def test_the_interrupted_wait_says_that_it_goes_on(
    on_call: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperpod_cli.operate.nodes.command.wait", interrupted)

    text = run(on_call, "reboot", "worker-group-2", "--yes", code=130)

    assert text.splitlines()[-1] == (
        "Interrupted. HyperPod goes on with it; see `hyperpod-ops status --watch --config "
        f"{on_call.stage.config_path}`."
    )
    wait_until_settled(on_call)


def wait_until_settled(operator: Operator) -> None:
    """Wait until each node that there should be works."""
    sagemaker = operator.stage.environment.clients("sagemaker")
    eventually(lambda: [node.status for node in nodes_of(sagemaker, "ml-cluster")] == ["Running"])
