"""The operator's commands, on one deployment: what only looks comes before what changes."""

import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
import yaml
from kubernetes.client import CoreV1Api

from hyperpod_cli.aws.cdk_cli import synthesized
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.commands import commands
from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_cli.inspect.archive.archive import read_archive
from hyperpod_cli.operate.clusters import chosen_cluster, find_cluster, nodes_of
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.hyperpod import Faults
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.kubernetes.training_operator import API_VERSION, KIND, TrainingOperator
from hyperpod_stacks.app import main
from tests.support.aws_cli import Person
from tests.support.commands import COMMANDS
from tests.support.configs import REPOSITORY
from tests.support.on_call import CALLS, documented_actions, noted_calls, run
from tests.support.operator import Operator
from tests.support.patience import PATIENCE_SECONDS, eventually
from tests.support.provisioner.cloudformation import RESPONSE_URL, event
from tests.support.shell_blocks import blocks
from tests.support.terminal_pictures import FOLDER, PICTURES, drawn, settled, shortened


@pytest.mark.slow(seconds=2)
def test_status_shows_groups_and_health(on_call: Operator, operator: Operator) -> None:
    text = run(on_call, "status")
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
    assert "Kubernetes API: 401" in root.output("status")


@pytest.mark.slow(seconds=2)
def test_what_is_deployed_is_archived(operator: Operator, on_call: Operator) -> None:
    file = operator.home / "deployed.zip"
    statement = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"}
    own = {"Version": "2012-10-17", "Statement": [statement]}
    operator.stage.environment.clients("iam").put_role_policy(
        RoleName="cdk-hnb659fds-cfn-exec-role-000000000000-us-west-2",
        PolicyName="own",
        PolicyDocument=json.dumps(own),
    )
    with noted_calls() as made:
        told = operator.output("archive", str(file))
    assert told.startswith(f"{file}: ml in 000000000000/us-west-2: ")
    assert told.count("\n") == 1
    # There is no node group.
    assert made == {*commands()["archive"].iam} - {"eks:DescribeNodegroup"}

    found = read_archive(file)
    deployment = found.deployment
    assert (deployment.hidden, deployment.unread) == ((), ())
    assert deployment.control_plane is not None
    assert deployment.control_plane["name"] == "ml-eks"
    assert "aws-fsx-csi-driver" in {each["addonName"] for each in deployment.addons}
    assert [each["StorageCapacity"] for each in deployment.file_systems] == [1200]
    assert ("kube-system", "hyperpod-dependencies", "deployed") in {
        (each["namespace"], each["name"], each["status"]) for each in deployment.releases
    }
    assert [(each["name"], each["phase"]) for each in deployment.claims] == [("fsx-claim", "Bound")]
    assert len(found.assets) == 4
    assert deployment.cloudformation["own"] == own
    assert len(deployment.cloudformation) > 1
    # Who may not read the stacks archives nothing.
    refused = on_call.run("archive", str(file))
    assert (refused.exit_code, refused.output.count("\n")) == (2, 1)
    assert refused.output.startswith("Not permitted: ")
    other = operator.home / "other.yaml"
    text = operator.stage.config_path.read_text("utf-8")
    other.write_text(text.replace("name: ml ", "name: other ", 1), encoding="utf-8")
    refused = operator.run("archive", str(file), "--config", str(other))
    assert refused.output.startswith("stacks: ")


@pytest.mark.slow(seconds=1)
def test_nodes_are_not_validated_without_a_claim(on_call: Operator) -> None:
    command = ("validate-nodes", "--check", "storage", "--claim", "none")
    assert "'none'" in run(on_call, *command, code=2)


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
    assert told.output.startswith("aws: ")
    tools(tmp_path, "aws")
    told = on_call.run("connect", node.id, PATH=str(tmp_path))
    assert told.output.startswith("session-manager-plugin: ")
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
    assert run(on_call, "kubeconfig", "--alias", "mine", KUBECONFIG="").startswith(f"{file}: ")

    document = yaml.safe_load(file.read_text("utf-8"))
    eks = on_call.stage.environment.clients("eks").describe_cluster(name="ml-eks")["cluster"]
    assert document["clusters"][0]["cluster"]["server"] == eks["endpoint"]
    # After `hyperpod-cdk destroy`, the control plane is there, and the HyperPod cluster is not.
    named, other = on_call.home / "other.yaml", ("--config", str(on_call.home / "other.yaml"))
    text = on_call.stage.config_path.read_text("utf-8")
    named.write_text(text.replace("\ncluster:\n", "\ncluster:\n  name: other\n"), "utf-8")
    assert "is added" in run(on_call, "kubeconfig", *other, KUBECONFIG="")
    told = run(on_call, "status", *other, code=2)
    assert f"`hyperpod-cdk deploy {named}`" in told
    assert "'other' is not in" in run(on_call, "kubeconfig", "--cluster", "other", code=2)


LLAMA = "llama3-1b-g5"
TRAIN = ("train", "--values", LLAMA, "--every", "0.1")


@pytest.mark.slow(seconds=4)
def test_a_training_job_is_submitted_followed_and_stopped(
    on_call: Operator, operator: Operator, tmp_path: Path
) -> None:
    kubernetes = operator.stage.environment.kubernetes
    assert isinstance(kubernetes, KubernetesApi)
    registry = f"{operator.stage.environment.aws.account}.dkr.ecr.us-west-2.amazonaws.com"
    assert "image: is missing" in run(on_call, *TRAIN, code=2)
    ecr = operator.stage.environment.clients("ecr")
    ecr.create_repository(repositoryName="train")
    with pytest.raises(ecr.exceptions.ImageNotFoundException):
        ecr.describe_images(repositoryName="train", imageIds=[{"imageTag": "1"}])
    for image in ("train:1", "none:1"):
        told = run(on_call, *TRAIN, "--image", f"{registry}/{image}", code=2)
        assert image in told
    settings = ("--image", "registry.invalid/train:1")
    refused = operator.run(*TRAIN, *settings)
    assert (refused.exit_code, refused.output.count("\n")) == (2, 1)
    assert "secret: " in refused.output
    (tmp_path / "charts").symlink_to(REPOSITORY / "charts")
    (tmp_path / "config.yaml").symlink_to(operator.stage.config_path)
    operator.output("kubeconfig", KUBECONFIG="")
    secret, helm_and_kubectl = (
        block.commands for block in blocks(REPOSITORY / "docs" / "training.md")
    )
    as_a_user(operator, secret, folder=tmp_path, stdin="hf_token\n")
    [found] = [
        each
        for each in kubernetes.objects("v1", "Secret", "default")
        if each["metadata"]["name"] == "hugging-face"
    ]
    assert base64.b64decode(found["data"]["token"]) == b"hf_token"
    run(on_call, *TRAIN, *settings, "--yes", code=2)  # may not create one
    assert "image: registry.invalid/train:1" in run(on_call, *TRAIN, *settings, "--dry-run")

    job = (API_VERSION, KIND, "default")
    as_a_user(operator, helm_and_kubectl, folder=tmp_path, IMAGE=settings[1])
    [by_hand] = kubernetes.objects(*job)
    assert operator.run(*TRAIN, *settings).output.startswith("name: ")
    stop = ("train", "--stop", "--name", LLAMA, "--yes")
    policy = f"NetworkPolicy {LLAMA}"
    assert operator.output(*stop) == f"Deleted: PyTorchJob {LLAMA}, {policy}\n"
    operator.output(*TRAIN, *settings, "--yes", "--no-follow")
    [submitted] = kubernetes.objects(*job)
    assert submitted["spec"] == by_hand["spec"]
    for key in ("labels", "annotations"):
        assert submitted["metadata"][key] == by_hand["metadata"][key]
    operator.output(*stop)

    with_etcd = (*settings, "--set", "rendezvous.backend=etcd")
    with kubeflow_operator(kubernetes, LLAMA, writes='{"event":"done","step":1}'):
        told = operator.output(*TRAIN, *with_etcd, "--yes")
    assert "1 x ml.g5.12xlarge of worker-group-1" in told
    assert "USD an hour" in told
    assert '\n{"event":"done","step":1}\n' in told
    assert told.splitlines()[-1].startswith(f"{LLAMA} has succeeded")
    deleted = f"PyTorchJob {LLAMA}"
    deleted += "".join(f", {kind} {LLAMA}-etcd" for kind in ("Deployment", "Service", "Secret"))
    assert operator.output(*stop) == f"Deleted: {deleted}, {policy}\n"
    assert operator.run(*stop).output.startswith("name: ")
    assert not [*kubernetes.objects("v1", "Pod", "default")]


def as_a_user(
    operator: Operator, commands: str, *, folder: Path, stdin: str = "", **variables: str
) -> None:
    """Run commands of a page, which must succeed, as somebody in a checkout."""
    folders = [layer_binaries().helm.parent, Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, folders), os.defpath])
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", commands],
        env={**operator.environment(), **variables, "PATH": path},
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def kubeflow_operator(kubernetes: KubernetesApi, name: str, *, writes: str) -> Iterator[None]:
    """Run the operator and a node for a job: its worker writes a line, and succeeds."""
    operator, pod, namespace = TrainingOperator(kubernetes), f"{name}-worker-0", "default"

    def reach(phase: str, state: str) -> None:
        container = {"name": "pytorch", "state": {state: {}}}
        status = {"phase": phase, "containerStatuses": [container]}
        kubernetes.set_status("v1", "Pod", pod, status, namespace=namespace)

    def play() -> None:
        eventually(lambda: kubernetes.objects(API_VERSION, KIND, namespace))
        operator.reconcile()
        reach("Running", "running")
        kubernetes.write_log(pod, f"{writes}\n", container="pytorch", namespace=namespace)
        reach("Succeeded", "terminated")
        operator.reconcile()

    player = Thread(target=play)
    player.start()
    yield
    player.join()


@pytest.mark.slow(seconds=1)
def test_the_log_of_a_node_says_what_it_was_doing(on_call: Operator) -> None:
    on_call.stage.environment.lifecycle_logs.wait()
    text = run(on_call, "logs", "worker-group-1")
    assert "[SageMaker] Downloading lifecycle scripts" in text.splitlines()[0]
    assert "Z [nvidia_runtime] /etc/containerd/config.toml: " in text
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
    assert [line.split("Z ")[-1] for line in text.splitlines()[:2]] == [
        line.removeprefix("Z ") for line in lines
    ]
    assert "nvidia_runtime: no GPU" in text.rpartition("Running: ")[2]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", PICTURES)
def test_the_documentation_shows_the_commands_of_today(operator: Operator, name: str) -> None:
    picture = drawn(name, operator)
    stale = f"docs/terminal/{name}.svg is stale: run `make rehearsal-picture`"
    assert (FOLDER / f"{name}.svg").read_text("utf-8") == picture, stale
    assert "url(http" not in picture


def test_what_differs_each_time_has_a_fixed_value_of_the_same_length() -> None:
    one, other = (
        f"2026-11-{day}T11:06:55Z i-{some * 17} sg-{some * 17} hyperpod-i-{some * 17}"
        for day, some in (("22", "a"), ("23", "b"))
    )
    assert settled(one) == settled(other)
    assert len(settled(one)) == len(one)
    first, second = settled(f"i-{'a' * 17} i-{'b' * 17}").split()
    assert first != second


def test_a_row_of_lines_that_say_ok_is_short() -> None:
    lines = [*(f"\x1b[32mv{index} ok\x1b[0m" for index in range(9)), "v9  blocked", "v10 ok"]
    assert shortened("\n".join(lines)).splitlines() == [
        *lines[:2],
        "…",
        *lines[7:],
    ]


@pytest.mark.slow(seconds=37)
def test_what_the_provisioner_asks_aws_is_recorded(on_call: Operator, tmp_path: Path) -> None:
    clients, file = on_call.stage.environment.clients, tmp_path / "recorded.jsonl"
    assert "run `hyperpod-cdk record on`" in run(on_call, "record", "get", "-o", str(file), code=2)
    told = run(on_call, "record", "on")
    assert "ends it: run this again" in told
    [name] = re.findall(r"^(\S+IsComplete\S+) records its calls", told, re.MULTILINE)
    stack = clients("cloudformation").describe_stacks(StackName="ml-platform")["Stacks"][0]
    # A request that is over: it asks for the stack's events for half a minute.
    over = event(
        "Create",
        "Custom::FileSystemAvailability",
        {"FileSystemId": "fs-0123456789abcdef0"},
        stack_id=stack["StackId"],
        Operation="1 CREATE_IN_PROGRESS 1.0",
    )
    clients("lambda").invoke(FunctionName=name, Payload=json.dumps(over))

    assert re.search(
        r"recorded.jsonl: \d+ calls; names, ", run(on_call, "record", "get", "-o", str(file))
    )
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    calls = {line["operation"] for line in lines if line["message"] == "recorded"}
    assert "DescribeStackEvents" in calls
    assert "request_id" in next(line for line in lines if line["message"] == "is_complete")
    assert RESPONSE_URL not in file.read_text("utf-8")
    assert "records nothing" in run(on_call, "record", "off")
    assert "Each function records nothing" in run(on_call, "record", "off")


@pytest.mark.slow(seconds=2)
def test_the_manual_path_is_taken_by_the_api(operator: Operator, tmp_path: Path) -> None:
    lines = operator.output("env").splitlines()
    exported = dict(shlex.split(line)[1].split("=", 1) for line in lines)
    outputs = operator.stage.outputs()["ml-platform"]
    assert len(exported) == 15
    assert exported["PRIVATE_SUBNET_ID"] == outputs["OutputPrivateSubnetIds"].split(",")[0]
    assert exported["EKS_CLUSTER_ARN"] == outputs["EKSClusterArn"]

    request = json.loads(operator.output("cluster-config"))
    assert request["Orchestrator"]["Eks"]["ClusterArn"] == exported["EKS_CLUSTER_ARN"]
    file = tmp_path / "cluster-config.json"
    file.write_text(json.dumps({**request, "ClusterName": "by-hand"}), "utf-8")
    person = Person(environment=operator.stage.environment, home=tmp_path)
    create = f"aws sagemaker create-cluster --cli-input-json file://{file}"
    # Whatever it names is there and fits: what is left is that the EKS cluster has a cluster.
    assert person.run(create).stderr.strip().endswith("'ml-cluster'.")


@pytest.fixture
def signed_in(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Return the environment of somebody who may do all, set for the test."""
    environment = {**operator.stage.environment.aws.environment(), **operator.credentials}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.mark.slow(seconds=1)
def test_each_node_is_found_in_sagemaker_and_in_kubernetes(
    operator: Operator, signed_in: Mapping[str, str]
) -> None:
    assert signed_in
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    found = chosen.cluster()
    nodes = nodes_of(chosen.sagemaker, found.name)
    with kubernetes_api(
        chosen.session, eks_cluster=orchestrator_of(found).eks_cluster_name()
    ) as api:
        objects = {item.metadata.name for item in CoreV1Api(api).list_node().items}

    assert [node.group for node in nodes] == sorted(found.groups)
    assert objects == {node.kubernetes_name for node in nodes}
    assert [node.id for node in nodes_of(chosen.sagemaker, found.name, group="worker-group-2")] == [
        node.id for node in nodes if node.group == "worker-group-2"
    ]


@pytest.mark.slow(seconds=1)
def test_who_may_not_is_told_what_to_do(
    operator: Operator, signed_in: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    name = orchestrator_of(chosen.cluster()).eks_cluster_name()
    # The root user, who has no access entry.
    for key, value in operator.stage.environment.aws.environment().items():
        monkeypatch.setenv(key, value)
    assert signed_in
    chosen = chosen_cluster(operator.stage.config_path, cluster=None, region=None)
    with (
        pytest.raises(OpsError, match=r"^Kubernetes API: 40[13] .* eks\.admins"),
        kubernetes_api(chosen.session, eks_cluster=name) as api,
    ):
        CoreV1Api(api).list_node()
    with (
        pytest.raises(OpsError, match=r"^EKS cluster: 'none'"),
        kubernetes_api(chosen.session, eks_cluster="none"),
    ):
        pass
    with pytest.raises(OpsError, match=r"^cluster: 'none' .*: ml-cluster; "):
        chosen_cluster(operator.stage.config_path, cluster="none", region="us-west-2").cluster()


@pytest.mark.slow(seconds=1)
def test_own_clusters_are_listed(operator: Operator) -> None:
    found = json.loads(operator.output("list", "--json"))

    assert found == [{"name": "ml-cluster", "status": "InService", "stack": "ml-hyperpod"}]
    assert operator.output("list").split()[-3:] == ["ml-cluster", "InService", "ml-hyperpod"]
    # The configuration has the region.
    assert "ml-cluster" in operator.output("list", AWS_REGION="us-east-1")
    assert "No cluster" in operator.output("list", "--region", "us-east-1")


# Whoever runs the tests has what they have.
HERE = ("--skip", "client-tools")


@pytest.mark.slow(seconds=3)
def test_a_deployment_can_be_deployed_again(operator: Operator) -> None:
    rows = json.loads(operator.output("preflight", "--json", *HERE))
    assert {row["name"]: row["status"] for row in rows if row["status"] != "ok"} == {}


@pytest.mark.slow(seconds=10)
def test_the_other_orchestrator_is_refused_and_the_stacks_stay(
    operator: Operator, tmp_path: Path
) -> None:
    stage = operator.stage
    document = yaml.safe_load(stage.config_path.read_text("utf-8"))
    del document["eks"], document["helm"], document["network"]["eks_subnet_cidrs"]
    first, second = document["cluster"]["instance_groups"]
    del first["deep_health_checks"]
    first["slurm"] = {"node_type": "compute", "partition": "gpu"}
    second["slurm"] = {"node_type": "controller"}
    document["cluster"]["orchestrator"] = "slurm"
    file, templates = tmp_path / "mine.yaml", tmp_path / "templates"
    file.write_text(yaml.safe_dump(document), "utf-8")
    assert main(config=file, output=templates, chart=stage.chart.path) == 0
    stacks = stage.environment.clients("cloudformation").describe_stacks

    before = stacks()["Stacks"]
    result = operator.run("deploy", "--templates", str(templates), "--yes", str(file))

    assert result.exit_code == 2
    assert result.stderr.startswith(f"{file}:"), result.stderr
    assert "cluster.orchestrator" in result.stderr
    assert stacks()["Stacks"] == before


@pytest.mark.slow(seconds=3)
def test_what_would_fail_is_told_with_its_fix(operator: Operator) -> None:
    hyperpod = operator.stage.environment.hyperpod
    instance_type = operator.stage.config.cluster.instance_types[0]
    before, hyperpod.faults = hyperpod.faults, Faults(quotas={instance_type: 0})
    try:
        result = operator.run("preflight", *HERE)
    finally:
        hyperpod.faults = before
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "cluster-quotas blocked" in said
    assert "request-service-quota-increase" in said


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--skip", "moon"), "--skip: 'moon'"),
        (("--training-plan", "moon"), "--training-plan: 'moon'"),
    ],
)
def test_bad_input_is_a_line(operator: Operator, arguments: tuple[str, str], said: str) -> None:
    result = operator.run("preflight", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


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

# Those that ask, as they would be run; a command without words here fails the test below.
ASKING: Mapping[str, Sequence[str]] = {
    **{action: ["worker-group-1"] for action in ("delete", "reboot", "replace")},
    "deploy": ["--templates", "templates"],
    "destroy": ["--all", "--templates", "templates"],
    "scale": ["worker-group-2", "0"],
    "train": [*TRAIN[1:], "--image", "registry.invalid/train:1"],
}
# Tried in tests of their own: no node is in quarantine here, and there is no pipeline.
ASKING_ELSEWHERE = {"release", "pipeline"}


@pytest.mark.slow(seconds=10)
def test_without_a_terminal_and_without_yes_nothing_is_done(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = {
        name
        for name, each in COMMANDS.items()
        if any("--yes" in parameter.opts for parameter in getattr(each, "params", ()))
    }
    assert asking == {*ASKING} | ASKING_ELSEWHERE
    stage = operator.stage
    file = tmp_path / "mine.yaml"
    text = stage.config_path.read_text("utf-8")
    file.write_text(text.replace("instance_count: 1", "instance_count: 0"), "utf-8")
    (tmp_path / "app.py").write_text(APP.format(assembly=str(stage.work_directory / "cdk.out")))
    monkeypatch.chdir(tmp_path)
    with synthesized(file) as folder:
        shutil.copytree(folder, "templates")
    file.write_text(text, "utf-8")
    clients = stage.environment.clients
    stacks, nodes = clients("cloudformation").describe_stacks, clients("sagemaker")
    before = stacks()["Stacks"], nodes_of(nodes, "ml-cluster")
    for name, words in ASKING.items():
        result = operator.run(name, *words, str(file))
        assert result.exit_code == 2, result.output
        said = result.stderr.splitlines()[-1]
        assert said.startswith("--yes: is missing"), (name, said)
    assert (stacks()["Stacks"], nodes_of(nodes, "ml-cluster")) == before
    assert file.read_text("utf-8") == text


FAST = ("--every", "0.1")


@pytest.mark.slow(seconds=3)
def test_nodes_are_restarted_replaced_and_deleted(on_call: Operator, tmp_path: Path) -> None:
    sagemaker = on_call.stage.environment.clients("sagemaker")
    ids = [node.id for node in nodes_of(sagemaker, "ml-cluster")]
    with_pod(on_call, ids[0], folder=tmp_path)
    refused = run(on_call, "reboot", ids[0], code=2)
    assert "ends pod default/mine" in refused
    assert refused.splitlines()[-1].startswith("--yes: ")

    assert run(on_call, "reboot", *ids, "--yes", *FAST).count(": done") == 2
    text = run(on_call, "replace", "worker-group-1", "--yes", *FAST)
    assert text.splitlines()[-1] == "worker-group-1: done"
    replaced = [node.id for node in nodes_of(sagemaker, "ml-cluster")]
    assert replaced[0] != ids[0] and replaced[1] == ids[1]
    many = run(on_call, "delete", *(f"worker-group-1/{n}" for n in range(26)), code=2)
    assert many.startswith("nodes: 26 ")

    text = run(on_call, "delete", "worker-group-1", "--yes", *FAST)
    assert f"hyperpod-cdk scale worker-group-1 0 {on_call.stage.config_path}" in text
    assert [node.id for node in nodes_of(sagemaker, "ml-cluster")] == ids[1:]
    assert run(on_call, "connect", "worker-group-1", code=2).startswith("node: group ")
    assert "worker-group-2/1" in run(on_call, "reboot", replaced[0], code=2)


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

    watch = f"`hyperpod-cdk status --watch {on_call.stage.config_path}`"
    assert watch in text.splitlines()[-1]
    wait_until_settled(on_call)


def wait_until_settled(operator: Operator) -> None:
    """Wait until each node that there should be works."""
    sagemaker = operator.stage.environment.clients("sagemaker")
    eventually(lambda: [node.status for node in nodes_of(sagemaker, "ml-cluster")] == ["Running"])


@pytest.mark.slow(seconds=2)
def test_a_group_is_scaled_by_its_configuration(
    on_call: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = on_call.stage.config_path.read_text("utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    monkeypatch.setattr(
        "hyperpod_cli.deliver.scaling.command.deploy_command",
        lambda config: ["sh", "-c", "echo $0 >made; exit $CODE", str(config)],
    )
    assembly = str(on_call.stage.work_directory / "cdk.out")
    (tmp_path / "app.py").write_text(APP.format(assembly=assembly), "utf-8")
    monkeypatch.chdir(tmp_path)

    def scale(group: str, count: int, *, fails: int, code: int) -> str:
        options = ("--config", str(file), "--yes")
        return run(on_call, "scale", group, str(count), *options, code=code, CODE=str(fails))

    # Another group was changed by hand: nobody has asked for its nodes here.
    edited = text.replace("instance_count: 1", "instance_count: 2", 1)
    file.write_text(edited, "utf-8")
    told = scale("worker-group-2", 2, fails=0, code=2)
    assert f"{file}: " in told and "hyperpod-cdk diff" in told
    assert file.read_text("utf-8") == edited
    assert not (tmp_path / "made").exists()
    file.write_text(text, "utf-8")
    # The deployment failed and the group has the former number: so has the file.
    scale("worker-group-2", 3, fails=1, code=2)
    assert file.read_text("utf-8") == text
    assert (tmp_path / "made").read_text("utf-8") == f"{file}\n"
    # Fewer: which nodes go, and what runs on them, is shown before.
    told = scale("worker-group-2", 0, fails=1, code=2)
    assert "worker-group-2: 1 -> 0 nodes" in told
    assert "  worker-group-2/1 (i-" in told
    assert file.read_text("utf-8") == text
    # The group has the number wanted, since its node was deleted: so has the file.
    scale("worker-group-1", 1, fails=0, code=2)
    scale("worker-group-1", 0, fails=1, code=2)
    assert "instance_count: 0" in file.read_text("utf-8")
    # That number is in no template yet, but no node goes or comes by it.
    scale("worker-group-2", 2, fails=0, code=0)
    file.write_text(text, "utf-8")
    assert scale("worker-group-2", 2, fails=0, code=0)
    assert file.read_text("utf-8").count("instance_count: 2") == 1


@pytest.mark.slow(seconds=4)
def test_a_shortage_is_explained_and_told_once(on_call: Operator) -> None:
    environment = on_call.stage.environment
    group = "worker-group-2"
    environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group}))
    run(on_call, "replace", group, "--yes", "--no-wait")
    arguments = ("events", "--level", "error", "--json")
    eventually(lambda: json.loads(run(on_call, *arguments)))
    text = run(on_call, "status")
    assert "\n1 of worker-group-2  Pending" in text
    assert "capacity: " in text
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
    run(on_call, "idle")
    assert "is not in quarantine" in run(on_call, "release", "i-0", "--yes", code=2)
    # In IAM's spelling: the service's prefix is that of its endpoint for all of these.
    documented = documented_actions()
    assert set(CALLS) == {command for command, called in documented.items() if called}, (
        "each command of the page is run by a test of a module above"
    )
    unknown_cluster = {"sagemaker:ListClusters", "sagemaker:ListTags"}
    # There is no EKS node group.
    CALLS["status"].add("eks:DescribeNodegroup")
    # Nor does an add-on or a group in a Capacity Block change.
    CALLS["scale"] |= {"eks:DescribeAddon", "eks:DescribeNodegroup"}
    for command, called in CALLS.items():
        needed = called - (unknown_cluster if command != "list" else set())
        assert needed == documented[command], f"docs/operating.md, Permissions: {command}"
