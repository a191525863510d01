"""The commands that look at a cluster, with the permissions that docs/operating.md names."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from hyperpod_cli.operate.clusters.cluster import find_cluster, nodes_of
from tests.support.on_call import run
from tests.support.operator import Operator


@pytest.mark.slow(seconds=2)
def test_status_shows_groups_and_health(on_call: Operator, operator: Operator) -> None:
    text = run(on_call, "status")
    assert "All nodes are healthy." in text
    assert "1 passed" in text
    assert "orchestration-ready" not in text
    assert max(map(len, text.splitlines())) <= 80

    found = json.loads(run(on_call, "status", "--json"))
    assert [(each["name"], each["current"], each["target"]) for each in found["groups"]] == [
        ("worker-group-1", 1, 1),
        ("worker-group-2", 1, 1),
    ]
    assert [each["health"] for each in found["nodes"]] == ["Schedulable"] * 2
    # The root user has no access entry.
    root = Operator(stage=operator.stage, home=operator.home, credentials={})
    text = root.output("status")
    assert "Health is not known. Kubernetes API: 401" in text
    assert "not healthy" not in text
    assert "2 of 2 nodes are Running; health is not known." in text


@pytest.mark.slow(seconds=1)
def test_a_node_is_connected_to(
    on_call: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = on_call.stage.environment.clients
    cluster = find_cluster(clients("sagemaker"), "ml-cluster")
    (node,) = nodes_of(clients("sagemaker"), "ml-cluster", group="worker-group-2")
    target = f"sagemaker-cluster:{cluster.id}_worker-group-2-{node.id}"
    expected = ["aws", "ssm", "start-session", "--target", target, "--region", "us-west-2"]
    for name in ("worker-group-2", "worker-group-2/1", node.id):
        assert run(on_call, "connect", name, "--print").split() == expected

    told = on_call.run("connect", node.id, PATH=str(tmp_path))
    assert (told.exit_code, told.output.count("\n")) == (2, 1)
    assert told.output.startswith("aws: is not on the PATH; install it: https://")
    tools(tmp_path, "aws")
    assert (
        "session-manager-plugin: is not"
        in on_call.run("connect", node.id, PATH=str(tmp_path)).output
    )
    tools(tmp_path, "session-manager-plugin")
    replaced: list[Sequence[str]] = []
    monkeypatch.setattr("os.execvp", lambda _, command: replaced.append(command))
    run(on_call, "connect", node.id, PATH=str(tmp_path))
    assert replaced == [expected]


def tools(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n", "utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.slow(seconds=2)
def test_kubectl_uses_the_kubeconfig(on_call: Operator, operator: Operator) -> None:
    file = operator.home / ".kube" / "config"
    told = run(on_call, "kubeconfig", "--alias", "mine", KUBECONFIG="")
    assert told.startswith(f"{file}: context mine is added")

    document = yaml.safe_load(file.read_text("utf-8"))
    eks = on_call.stage.environment.clients("eks").describe_cluster(name="ml-eks")["cluster"]
    assert document["clusters"][0]["cluster"]["server"] == eks["endpoint"]
    # After `make destroy`, the control plane is there, and the HyperPod cluster is not.
    named, other = on_call.home / "other.yaml", ("--config", str(on_call.home / "other.yaml"))
    text = on_call.stage.config_path.read_text("utf-8")
    named.write_text(text.replace("  name: ml-cluster", "  name: other"), "utf-8")
    assert "is added" in run(on_call, "kubeconfig", *other, KUBECONFIG="")
    told = run(on_call, "status", *other, code=2)
    assert f"run `make deploy CONFIG={named}`, or name one with --cluster" in told
    assert "'other' is not in" in run(on_call, "kubeconfig", "--cluster", "other", code=2)


@pytest.mark.slow(seconds=1)
def test_the_log_of_a_node_says_what_it_was_doing(on_call: Operator) -> None:
    on_call.stage.environment.lifecycle_logs.wait()
    text = run(on_call, "logs", "worker-group-1")
    assert "[SageMaker] Downloading lifecycle scripts" in text.splitlines()[0]
    assert "Z [nvidia_runtime] /etc/containerd/config.toml: nvidia is now the default" in text
    assert "Running: The scripts succeeded." in text
    assert "Z [nvidia_runtime] no NVIDIA GPU" in run(on_call, "logs", "worker-group-2")

    clients = on_call.stage.environment.clients
    cluster = find_cluster(clients("sagemaker"), "ml-cluster")
    (node,) = nodes_of(clients("sagemaker"), "ml-cluster", group="worker-group-1")
    group = f"/aws/sagemaker/Clusters/ml-cluster/{cluster.id}"
    stream = f"LifecycleConfig/worker-group-1/{node.id}"
    logs = clients("logs")
    logs.delete_log_stream(logGroupName=group, logStreamName=stream)
    assert "--follow waits for it" in run(on_call, "logs", node.id, code=2)
    # An instance that is gone is in no list, and status and events name it.
    gone = "i-0123456789abcdef0"
    assert "is not in ml-cluster" in run(on_call, "logs", gone, code=2)
    former = f"LifecycleConfig/worker-group-1/{gone}"
    logs.create_log_stream(logGroupName=group, logStreamName=former)
    failed = {"timestamp": int(time.time() * 1000), "message": "Z ERROR step nvidia_runtime failed"}
    logs.put_log_events(logGroupName=group, logStreamName=former, logEvents=[failed])
    assert f"worker-group-1 ({gone}), gone: Step nvidia_runtime failed" in run(
        on_call, "logs", gone
    )

    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    now = int(time.time() * 1000)
    lines = ["Z start: lifecycle scripts, 6 steps", "Z [nvidia_runtime] no GPU"]
    events = [{"timestamp": now + place, "message": line} for place, line in enumerate(lines)]
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)

    text = run(on_call, "logs", "worker-group-1")
    assert [line.split("Z ")[1] for line in text.splitlines()[:2]] == [
        line.removeprefix("Z ") for line in lines
    ]
    assert "Running: The last step that wrote something is nvidia_runtime: no GPU" in text
