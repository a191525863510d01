"""The command on a Kubernetes API, with a fabric that plays the MPI operator and the kubelets."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.operate import clusters
from hyperpod_cli.operate.validation import command, fabric
from hyperpod_cli.operate.validation.recorded import recorded
from hyperpod_cli.operate.validation.targets import targets
from hyperpod_cli.operate.validation.work import Runner
from hyperpod_cli.terminal.errors import FAILED, INTERRUPTED, REFUSED
from hyperpod_emulator.hardware import EFA, GPU
from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.testing.kubernetes_api import PRINCIPALS, claim, client_of, daemon_set, pod
from tests.support.chart_rendering import template
from tests.support.clusters import described
from tests.support.commands import Said, ran
from tests.support.configs import REPOSITORY, STAND_IN_CHART, configured
from tests.support.fabric import Fabric, Player, names

P4, P5 = "ml.p4d.24xlarge", "ml.p5.48xlarge"
STORAGE = ["--check", "storage", "--claim", "nope"]
DEVICES = {GPU: "8", EFA: "32"}
OF_HYPERPOD = {
    "sagemaker.amazonaws.com/cluster-name": "ml-cluster",
    "sagemaker.amazonaws.com/instance-group-name": "workers",
    "sagemaker.amazonaws.com/node-health-status": "Schedulable",
}


class Site:
    """A HyperPod cluster of p5 nodes, as its Kubernetes API shows it."""

    def __init__(self, kubernetes: KubernetesApi, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.kubernetes = kubernetes
        self.folder = folder
        self.groups: dict[str, dict[str, Any]] = {"workers": {}}
        self.built: dict[str, str] = {}
        self.config: Config | None = None
        self.said = Said(0, "", "")
        self.player = Player(api=kubernetes, fabric=Fabric(), folder=folder / "bin")
        patch.chdir(folder)
        patch.setattr(clusters, "chosen_cluster", lambda *_given, **_named: self.chosen())
        patch.setattr(command, "kubernetes_api", lambda *_, **__: client_of(kubernetes, folder))
        patch.setattr(
            command, "Runner", partial(Runner, sleep=self.tick, clock=lambda: self.player.seconds)
        )
        for name in ("nvidia-device-plugin", "aws-efa-k8s-device-plugin"):
            tolerations = [{"operator": "Exists"}]
            kubernetes.create(daemon_set(name, namespace="kube-system", tolerations=tolerations))

    def tick(self, seconds: float) -> None:
        self.player.tick(seconds)

    def chosen(self) -> SimpleNamespace:
        cluster = described({"workers": (0, 0)})
        listed = [
            {"InstanceGroupName": name, "InstanceType": P5, **members}
            for name, members in self.groups.items()
        ]
        orchestrator = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}}
        found = type(cluster)(
            described={
                **cluster.described,
                "InstanceGroups": listed,
                "Orchestrator": orchestrator,
            }
        )
        outputs = [
            {"OutputKey": f"TrainingImage{key}", "OutputValue": value}
            for key, value in self.built.items()
        ]
        stacks = {"Stacks": [{"StackName": "ml-workloads", "Outputs": outputs}]}
        client = SimpleNamespace(describe_stacks=lambda **_asked: stacks)
        return SimpleNamespace(
            session=SimpleNamespace(region="us-west-2", client=lambda _name: client),
            config=self.config,
            cluster=lambda: found,
        )

    def add(
        self,
        count: int,
        *,
        capacity: Mapping[str, str] = DEVICES,
        kind: str = P5,
        labels: Mapping[str, str] = OF_HYPERPOD,
    ) -> None:
        for name in names(count):
            self.kubernetes.put_node(name, instance_type=kind, labels=labels, capacity=capacity)

    def install_mpi(self) -> None:
        (self.folder / "helm").mkdir()
        shown = ["--show-only", "templates/mpijobs_crd.yaml"]
        text = template("x", STAND_IN_CHART, *shown, values={}, home=self.folder / "helm")
        self.kubernetes.create(yaml.safe_load(text))

    def claim(self) -> None:
        self.kubernetes.create(claim(storageClassName="", volumeName="fsx"))
        status = {"phase": "Bound"}
        self.kubernetes.set_status(
            "v1", "PersistentVolumeClaim", "fsx-claim", status, namespace="default"
        )

    def jobs(self) -> list[str]:
        kinds = [
            ("batch/v1", "Job"),
            ("kubeflow.org/v2beta1", "MPIJob"),
            ("v1", "ConfigMap"),
            ("apps/v1", "Deployment"),
        ]
        return [
            item["metadata"]["name"]
            for kind in kinds
            for item in self.kubernetes.objects(*kind, namespace="default")
        ] + [
            item["metadata"]["name"]
            for item in self.kubernetes.objects("v1", "Pod", "default")
            if "app.kubernetes.io/name" in item["metadata"].get("labels", {})
        ]

    def validate(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Run the command; return its exit code, and what it wrote as JSON."""
        files = ("--json", "found.json", "--junit", "found.xml")
        self.said = ran("validate-nodes", *files, *arguments)
        found = self.folder / "found.json"
        return self.said.code, json.loads(found.read_text()) if found.exists() else {}


@pytest.fixture
def rehearsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Return a site where nobody makes pods."""
    (tmp_path / "bin").mkdir()
    with KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as kubernetes:
        yield Site(kubernetes, tmp_path, monkeypatch)


@pytest.fixture
def site(rehearsed: Site) -> Site:
    rehearsed.player.api.operate("Job", "MPIJob")
    return rehearsed


@pytest.fixture
def ready(site: Site) -> Site:
    """Return a site on which everything can be checked."""
    site.add(4)
    site.install_mpi()
    site.claim()
    return site


def failed(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (each["check"], each["subject"]) for each in found["findings"] if each["result"] == "failed"
    ]


def test_a_healthy_cluster(ready: Site, snapshot: SnapshotAssertion) -> None:
    code, found = ready.validate()
    out = ready.said.out
    assert (code, found["ok"], failed(found)) == (0, True, []), out
    told = {each["check"]: each["found"] for each in found["findings"]}
    assert told.pop("rendezvous etcd-v2").startswith("4 nodes met")
    checks = ["GPUs", "EFA interfaces", "NCCL all-reduce", "FSx read"]
    assert {check: told[check] for check in checks} == snapshot
    assert ready.jobs() == []
    assert found["rounds"] == 1
    assert "n0000 and 3 more" in out
    assert "ok, 0 failed, 4 skipped." in out
    written = (ready.folder / "found.xml").read_text()
    assert f'tests="{len(found["findings"])}" failures="0"' in written
    assert written.count("<testcase ") == len(found["findings"])
    assert [*(ready.folder / "build/validate-nodes").iterdir()] == []


def test_tcp_is_a_failure_however_fast(ready: Site) -> None:
    ready.player.fabric = Fabric(tcp=names(4))
    code, found = ready.validate("--check", "fabric")
    assert (code, failed(found)) == (FAILED, [("NCCL all-reduce", "all 4 nodes")])
    assert found["findings"][0]["found"] == "3.0 GB/s, provider TCP"
    assert found["rounds"] == 1


def test_the_node_on_tcp_is_named(ready: Site) -> None:
    ready.player.fabric = Fabric(tcp=["n0002"])
    code, found = ready.validate("--check", "fabric")
    assert code == FAILED
    assert ("NCCL provider", "n0002") in failed(found)


def test_a_slow_node_is_named(ready: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ready.player.fabric = Fabric(slow=["n0002"])
    code, found = ready.validate("--check", "fabric")
    assert code == FAILED
    assert [each for each in failed(found) if each[0] == "slow node"] == [("slow node", "n0002")]
    out = ready.said.out
    assert "hyperpod-cdk replace n0002" in out
    assert "at least 300 GB/s, efa" in out
    assert f"The floor of {P5}, 300 GB/s, " in out
    assert ready.jobs() == []


def test_without_a_published_floor_pairs_are_compared(
    ready: Site, snapshot: SnapshotAssertion
) -> None:
    ready.groups["workers"]["InstanceType"] = P4
    ready.add(8, kind=P4, capacity={GPU: "8", EFA: "4"})
    ready.player.fabric = Fabric(slow=["n0004"])
    code, found = ready.validate("--check", "fabric")
    assert (code, [each for each in failed(found) if each[0] != "NCCL all-reduce"]) == (
        FAILED,
        [("slow node", "n0004")],
    )
    assert found["floors"] == {}
    whole = found["findings"][0]
    assert (whole["subject"], whole["result"]) == ("all 8 nodes", "ok")
    assert whole["expected"] == snapshot


def test_a_missing_gpu_is_named_and_holds_up_nobody(ready: Site) -> None:
    ready.kubernetes.put_node(
        "n0001",
        instance_type=P5,
        labels={
            "sagemaker.amazonaws.com/cluster-name": "ml-cluster",
            "sagemaker.amazonaws.com/instance-group-name": "workers",
        },
        capacity={**DEVICES, GPU: "7"},
    )
    code, found = ready.validate()
    assert (code, failed(found)) == (FAILED, [("GPUs", "n0001")])
    (whole,) = [each for each in found["findings"] if each["check"] == "NCCL all-reduce"]
    assert whole["subject"] == "all 3 nodes"


def test_it_goes_on_after_an_interruption(ready: Site) -> None:
    ready.player.fabric = Fabric(slow=["n0000", "n0003"])

    def interrupt(player: Player) -> None:
        if any(job["kind"] == "MPIJob" for job in mpi_jobs(ready)) and len(player.started) > 5:
            raise KeyboardInterrupt

    ready.player.before_tick = interrupt
    code, _ = ready.validate("--check", "node", "--check", "fabric")
    assert (code, ready.jobs()) == (INTERRUPTED, [])
    assert "run the command again" in ready.said.err
    before = {*ready.player.started}

    ready.player.before_tick = lambda _player: None
    code, found = ready.validate("--check", "node", "--check", "fabric")
    assert code == FAILED
    assert {each[1] for each in failed(found) if each[0] == "slow node"} == {"n0000", "n0003"}
    assert "Continuing from" in ready.said.out
    again = {name for name in ready.player.started if name not in before}
    assert again
    assert not [name for name in again if name.endswith(("-1-0", "-1-1", "-1-2", "-1-3"))]
    assert [*(ready.folder / "build/validate-nodes").iterdir()] == []


@pytest.mark.parametrize("about", [{"cluster": "ml"}, {"cluster": "other"}])
def test_what_another_version_left_in_the_cluster_is_known(
    about: Mapping[str, str], tmp_path: Path
) -> None:
    file, left = tmp_path / "state.json", [{"kind": "MPIJob"}]
    content = {"about": {"cluster": "ml"}, "findings": {"node a": [{"name": "a"}]}}
    file.write_text(json.dumps({**content, "submitted": left}), "utf-8")

    found = recorded(file, about=about, fresh=False)
    assert (found.about, found.findings, found.submitted) == (about, {}, left)


def mpi_jobs(site: Site) -> list[dict[str, Any]]:
    return site.kubernetes.objects("kubeflow.org/v2beta1", "MPIJob")


def test_an_interruption_while_a_log_is_read_leaves_nothing(
    ready: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object) -> None:
        assert ready.jobs()
        raise KeyboardInterrupt

    ready.player.fabric = Fabric(slow=["n0001"])
    kept = fabric.measurement
    monkeypatch.setattr(
        fabric,
        "measurement",
        lambda *given: kept(*given) if len(given[0]) > 2 else interrupted(),
    )
    code, _ = ready.validate("--check", "fabric")
    assert (code, ready.jobs()) == (INTERRUPTED, [])


@pytest.mark.parametrize(
    ("phase", "state"),
    [
        ("Pending", {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}),
        (
            "Failed",
            {"terminated": {"exitCode": 128, "reason": "StartError", "message": "no python3"}},
        ),
    ],
)
def test_an_image_that_cannot_be_used_ends_it_in_a_line(
    *,
    ready: Site,
    monkeypatch: pytest.MonkeyPatch,
    phase: str,
    state: dict[str, Any],
    snapshot: SnapshotAssertion,
) -> None:
    begun = Player._status
    monkeypatch.setattr(
        Player, "_status", lambda player, name, spec, *_: begun(player, name, spec, state, phase)
    )
    monkeypatch.setattr(Player, "_end", lambda *_given: None)
    code, _ = ready.validate("--image", "registry.invalid/none:1")
    assert (code, ready.jobs()) == (FAILED, [])
    (line,) = ready.said.err.splitlines()
    assert line.partition(": ")[2] == snapshot


def images_of(site: Site, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, set[str]]:
    """Return the images with which each check ran."""
    used: dict[str, set[str]] = {}
    started = Player._pod

    def noted(player: Player, job: Any, template: Any, *given: Any, **named: Any) -> str:  # noqa: ANN401
        container = template["spec"]["containers"][0]
        check = container["command"][2] if job["kind"] == "Job" else "fabric"
        used.setdefault(check, set()).add(container["image"])
        return started(player, job, template, *given, **named)

    monkeypatch.setattr(Player, "_pod", noted)
    site.validate(*arguments)
    return used


def test_what_takes_pytorch_runs_in_the_training_image(
    ready: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = yaml.safe_load((REPOSITORY / "charts/validation/values.yaml").read_text())["image"]
    built = "111122223333.dkr.ecr.us-west-2.amazonaws.com/training:gpu"
    ready.built, ready.config = {"Gpu": built, "Neuron": "neuron"}, configured({})
    with monkeypatch.context() as patch:
        assert images_of(ready, patch) == {
            "node": {default},
            "fabric": {default},
            "storage": {built},
            "rendezvous": {built},
        }
    used = images_of(ready, monkeypatch, "--image", "mine:1")
    assert (len(used), {image for each in used.values() for image in each}) == (4, {"mine:1"})


@pytest.mark.parametrize("beside", [{"cluster": None}, {}], ids=["alone", "beside HyperPod"])
def test_nodes_of_a_node_group(
    site: Site, beside: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    group = {"name": "gpu", "instance_types": ["p5.48xlarge"], "desired_size": 2}
    site.config = configured({**beside, "node_groups": [group]})
    site.install_mpi()
    site.claim()
    assert site.validate("--group", "gpu") == (REFUSED, {})
    assert site.said.err == snapshot

    site.add(2, kind="p5.48xlarge", labels={"eks.amazonaws.com/nodegroup": "gpu"})
    code, found = site.validate("--group", "gpu")
    assert (code, found["ok"]) == (0, True), site.said.out
    tested = {each["subject"] for each in found["findings"] if each["check"] == "GPUs"}
    assert tested == set(names(2))
    assert {each["check"] for each in found["findings"] if each["result"] == "skipped"} == {"Xid"}


def test_nodes_of_a_switch_are_next_to_each_other(site: Site) -> None:
    places = ["baa", "aba", "aab", "aaa"]  # the farthest layer first
    for name, place in zip(names(4), places, strict=True):
        layers = {f"topology.k8s.aws/network-node-layer-{n}": s for n, s in enumerate(place, 1)}
        site.kubernetes.put_node(
            name, instance_type=P5, labels={**OF_HYPERPOD, **layers}, capacity=DEVICES
        )
    with client_of(site.kubernetes, site.folder) as api:
        nodes = targets(api, cluster="ml-cluster", groups=["workers"], busy_too=True)
    assert [node.name for node in nodes] == ["n0003", "n0002", "n0001", "n0000"]


def test_nothing_checked_is_a_failure(ready: Site, snapshot: SnapshotAssertion) -> None:
    for node in names(4)[1:]:
        user_pod(ready, node)
    code, found = ready.validate("--check", "fabric")
    assert (code, found["ok"], found["complete"]) == (FAILED, False, False)
    # Its lines are as wide as the terminal.
    words = " ".join(ready.said.out.split())
    assert words[words.index("4 checks: ") :] == snapshot
    assert (ready.folder / "found.xml").read_text().count("<skipped message=") == 4


def test_what_a_killed_run_left_is_deleted(ready: Site) -> None:
    class Killed(BaseException):
        pass

    def kill(_player: Player) -> None:
        raise Killed

    ready.player.before_tick = kill
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "delete", lambda *_given: None)
        with pytest.raises(Killed):
            ready.validate("--check", "node")
    assert ready.jobs()
    ready.player.before_tick = lambda _player: None
    assert ready.validate("--check", "node")[0] == 0
    assert ready.jobs() == []


def user_pod(site: Site, node: str) -> None:
    site.kubernetes.create(pod(f"llama-{node}", devices="4", nodeName=node))


def test_busy_nodes_are_named_and_left_alone(ready: Site) -> None:
    user_pod(ready, "n0003")
    code, found = ready.validate("--check", "node", "--check", "fabric")
    assert code == 0
    skipped = [each for each in found["findings"] if each["subject"] == "n0003"]
    assert [each["found"] for each in skipped] == ["busy: default/llama-n0003"]
    assert "all 3 nodes" in {each["subject"] for each in found["findings"]}


def _deleted(player: Player) -> None:
    for kind, version in (("Job", "batch/v1"), ("MPIJob", "kubeflow.org/v2beta1")):
        for job in player.api.objects(version, kind):
            if player.started.get(job["metadata"]["name"]):
                player.started[job["metadata"]["name"]] = []
                player.api.delete(version, kind, job["metadata"]["name"], namespace="default")
    for each in player.api.objects("v1", "Pod", "default"):
        player.api.delete("v1", "Pod", each["metadata"]["name"], namespace="default")


def _preempted(player: Player) -> None:
    why = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    ended = {"phase": "Failed", "conditions": [{**why, "message": "for default/llama"}]}
    for each in player.api.objects("v1", "Pod", "default"):
        player.api.set_status("v1", "Pod", each["metadata"]["name"], ended, namespace="default")
    for name in player.started:
        player.started[name] = []


def _unstarted(player: Player) -> None:
    for kind, version in (("Job", "batch/v1"), ("MPIJob", "kubeflow.org/v2beta1")):
        player.started |= {job["metadata"]["name"]: [] for job in player.api.objects(version, kind)}


@pytest.mark.parametrize("check", ["node", "fabric", "rendezvous"])
@pytest.mark.parametrize(
    ("happens", "told"),
    [
        (_deleted, "it was deleted"),
        (_preempted, "PreemptionByScheduler: for default/llama"),
        (_unstarted, "not done in time: it has no pods"),
    ],
)
def test_what_says_nothing_about_a_node_is_skipped(
    ready: Site, happens: Callable[[Player], None], told: str, check: str
) -> None:
    ready.player.before_tick = happens
    code, found = ready.validate("--check", check, "--timeout", "2")
    assert (code, failed(found), ready.jobs()) == (FAILED, [], [])
    assert {each["found"].partition("; run")[0] for each in found["findings"]} == {told}
    out = ready.said.out
    assert "hyperpod-cdk replace" not in out
    waits = [line for line in out.splitlines() if "have begun" in line]
    notice = f"0 of {4 if check == 'node' else 1} checks have begun; their pods: none yet"
    if happens is _unstarted:
        assert len(waits) == (4 if check == "rendezvous" else 2)
        assert all(line.startswith(notice) for line in waits)


def test_where_no_pods_come_nothing_is_waited_for(rehearsed: Site) -> None:
    rehearsed.add(2)
    rehearsed.install_mpi()
    rehearsed.player.before_tick = _unstarted
    code, _ = rehearsed.validate("--check", "node")
    assert (code, rehearsed.jobs()) == (REFUSED, [])
    assert "It runs no containers" in rehearsed.said.err


def test_a_check_that_hangs_on_its_node_has_failed(ready: Site) -> None:
    def hang(player: Player) -> None:
        player.started = {name: [] for name in player.started}

    ready.player.before_tick = hang
    code, found = ready.validate("--check", "node", "--timeout", "2")
    assert (code, failed(found)) == (FAILED, [("node", name) for name in names(4)])
    assert {each["found"] for each in found["findings"]} == {"not done in time"}


def test_a_job_that_failed_with_one_pod_is_not_waited_for(ready: Site) -> None:
    """Kubernetes deletes the other pods."""

    def fail_one(player: Player) -> None:
        for name, (first, *others) in (
            (each, pods) for each, pods in player.started.items() if pods
        ):
            ended = {"phase": "Failed"}
            player.api.set_status("v1", "Pod", first, ended, namespace="default")
            for each in others:
                player.api.delete("v1", "Pod", each, namespace="default")
            why = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
            status = {"conditions": [{**why, "message": "a pod has failed"}]}
            player.api.set_status("batch/v1", "Job", name, status, namespace="default")
            player.started[name] = []

    ready.player.before_tick = fail_one
    code, found = ready.validate("--check", "rendezvous")
    assert (code, len(failed(found))) == (FAILED, 2)
    assert {each["found"] for each in found["findings"]} == {
        "BackoffLimitExceeded: a pod has failed"
    }
    assert ready.player.seconds < 60


def _none(site: Site) -> None:
    site.install_mpi()
    site.claim()


def _nodes_only(site: Site) -> None:
    site.add(2)
    site.claim()


def _no_claim(site: Site) -> None:
    site.add(2)
    site.install_mpi()


def _no_efa(site: Site) -> None:
    site.groups["workers"]["InstanceType"] = "ml.g5.4xlarge"
    site.add(2, kind="ml.g5.4xlarge", capacity={GPU: "1"})


def _cpus(site: Site) -> None:
    site.groups["workers"]["InstanceType"] = "ml.m5.2xlarge"
    site.groups["gpus"] = {}


def _all_busy(site: Site) -> None:
    site.add(1)
    site.install_mpi()
    site.claim()
    user_pod(site, "n0000")


@pytest.mark.parametrize(
    ("prepare", "arguments"),
    [
        (_cpus, ["--group", "workers"]),
        (_cpus, ["--group", "other"]),
        (_none, []),
        (_no_efa, []),
        (_nodes_only, []),
        (_no_claim, []),
        (_nodes_only, STORAGE),
        (_no_claim, ["-n", "other"]),
        (_all_busy, []),
        (_none, ["--check", "gpu"]),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_submitted(
    site: Site, prepare: Callable[[Site], None], arguments: list[str], snapshot: SnapshotAssertion
) -> None:
    prepare(site)
    code, _ = site.validate(*arguments)
    errors = site.said.err.splitlines()
    assert (code, len(errors)) == (REFUSED, 1), errors
    assert errors[0] == snapshot
    assert site.player.started == {}
