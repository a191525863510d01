"""Running helm and kubectl: surroundings, end, failures, the real binary's opinion of arguments."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_shared.errors import ProvisioningError, UnreachableError
from hyperpod_shared.owner import OWNER_LABEL, STACK_LABEL, Owner
from provisioner.framework.request import Request
from provisioner.framework.turn import Turn
from provisioner.helm.client import ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Wanted
from provisioner.kubernetes.failures import CommandFailedError, last_lines
from provisioner.kubernetes.kubectl import ClusterProcess, Run, layer_binary
from tests.conftest import Raises
from tests.support.patience import PATIENCE_SECONDS, end_time_of
from tests.support.provisioner.cloudformation import FakeCloudFormation, Time, event, journal
from tests.support.provisioner.fake_helm import FakeCluster
from tests.support.provisioner.fake_table import FakeTable

LABELS = {OWNER_LABEL: "abc", STACK_LABEL: "ml-hyperpod"}
TOO_LONG = 'Secret "sh.helm.release.v1.deps.v1" is invalid: data: Too long: may not be more than'


@pytest.fixture
def process(tmp_path: Path) -> ClusterProcess:
    return ClusterProcess(
        binary=tmp_path / "helm",
        home=tmp_path,
        kubeconfig=lambda: tmp_path / "kubeconfig",
        environment={"PATH": os.environ["PATH"]},
    )


def _script(process: ClusterProcess, *lines: str) -> None:
    process.binary.write_text("\n".join(["#!/bin/sh", *lines]))
    process.binary.chmod(0o755)


def test_helm_writes_only_below_its_home(process: ClusterProcess) -> None:
    _script(process, "env")
    variables = dict(
        line.split("=", 1)
        for line in process.run(["x"], timeout_seconds=PATIENCE_SECONDS).splitlines()
    )
    home = str(process.home)
    for name in ("HOME", "TMPDIR", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        assert variables[name].startswith(home)
    assert variables["KUBECONFIG"] == str(process.kubeconfig())
    assert not [name for name in variables if name.startswith("AWS_")]


def test_helm_that_takes_too_long_may_record_its_failure(
    process: ClusterProcess, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr("provisioner.kubernetes.kubectl.STOP_GRACE_SECONDS", PATIENCE_SECONDS)
    _script(
        process,
        "trap 'touch recorded; echo Error: cancelled >&2; exit 1' TERM",
        "touch runs",
        "while :; do sleep 0.05; done",
    )
    end_time_of("upgrade", monkeypatch, when=(process.home / "runs").exists)
    with raises(CommandFailedError):
        process.run(["upgrade"], timeout_seconds=1)
    assert (process.home / "recorded").exists()


def test_helm_that_ignores_the_signal_is_killed(
    process: ClusterProcess, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr("provisioner.kubernetes.kubectl.STOP_GRACE_SECONDS", 0.2)
    _script(process, "trap '' TERM", "exec 1>&- 2>&-", "touch runs", "while :; do :; done")
    end_time_of("upgrade", monkeypatch, when=(process.home / "runs").exists)
    with raises(CommandFailedError):
        process.run(["upgrade"], timeout_seconds=1)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("level=WARN msg=x\nError: UPGRADE FAILED: a\n  b\n", "UPGRADE FAILED: a | b"),
        ("Error: first\nError: last", "last"),
        (
            'level=DEBUG msg="uninstall: Failed to delete release" error="[pods \\"a\\" is x]"\n'
            "Error: failed to delete release: r",
            'failed to delete release: r | [pods \\"a\\" is x]',
        ),
        ("Error: denied\ndenied\ndenied", "denied"),
        ("\n".join(map(str, range(20))), "14 | 15 | 16 | 17 | 18 | 19"),
        (
            'E1122 08:00:00.000001   4711 memcache.go:265] "Unhandled Error" err="x"\n'
            'E1122 08:00:00.000002   4711 memcache.go:265] "Unhandled Error" err="x"\n'
            "error: You must be logged in to the server (Unauthorized)",
            "error: You must be logged in to the server (Unauthorized)",
        ),
        (
            'E1122 08:00:00.000001   4711 memcache.go:265] "Unhandled Error" err="x"\n'
            'E1122 08:00:01.000002   4711 memcache.go:265] "Unhandled Error" err="x"',
            '"Unhandled Error" err="x"',
        ),
        ("", ""),
    ],
)
def test_last_lines(said: str, kept: str) -> None:
    assert last_lines(said) == kept


@pytest.mark.parametrize(
    ("text", "transient", "terminating", "not_found"),
    [
        ("Error: release: not found", False, False, True),
        ("Error: kubernetes cluster unreachable: Unauthorized", True, False, False),
        ("Error: the server has asked for the client to provide credentials", True, False, False),
        ("Error: Get https://x: dial tcp: lookup x: no such host", True, False, False),
        (
            'unable to create new content in namespace "a" because it is being terminated',
            False,
            True,
            False,
        ),
        ("Error: UPGRADE FAILED: forbidden", False, False, False),
    ],
)
def test_kinds_of_failure(
    text: str,
    transient: bool,
    terminating: bool,
    not_found: bool,
) -> None:
    error = CommandFailedError(text)
    assert (error.is_transient, error.is_terminating, error.is_release_not_found) == (
        transient,
        terminating,
        not_found,
    )


def test_binary_is_found_in_a_mounted_layer(tmp_path: Path) -> None:
    (tmp_path / "b" / "helm").mkdir(parents=True)
    (tmp_path / "b" / "helm" / "helm").touch()
    layers = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])
    assert layer_binary("helm", {"_LAMBDA_LAYERS_DIRS": layers}) == tmp_path / "b" / "helm" / "helm"


def test_missing_binary_names_the_layer(raises: Raises) -> None:
    with raises(ProvisioningError):
        layer_binary("kubectl", {})


def test_history_and_labels_become_a_release(process: ClusterProcess) -> None:
    history = [
        {
            "revision": 2,
            "updated": "2026-11-20T17:00:00.123456789Z",
            "status": "failed",
            "chart": "c-1",
            "app_version": "",
            "description": "no",
        },
        {
            "revision": 1,
            "updated": "2026-11-20T16:00:00Z",
            "status": "deployed",
            "chart": "c-1",
            "app_version": "",
            "description": "yes",
        },
    ]
    _script(
        process,
        f"""if [ "$1" = history ]; then echo '{json.dumps(history)}'; exit; fi""",
        f"echo '{json.dumps({'labels': LABELS})}'",
    )
    release = _client(process.run, process.home).read()
    assert release is not None
    assert [revision.number for revision in release.revisions] == [1, 2]
    assert release.last.status == "failed"
    assert release.labels == LABELS


def test_absent_release_is_none_and_uninstalling_it_a_success(process: ClusterProcess) -> None:
    _script(process, "echo 'Error: release: not found' >&2; exit 1")
    client = _client(process.run, process.home)
    assert client.read() is None
    client.uninstall()


@pytest.mark.parametrize(
    ("namespace", "creates"), [("kube-system", False), ("default", False), ("training", True)]
)
def test_namespaces_of_the_cluster_are_not_made(
    tmp_path: Path, namespace: str, creates: bool
) -> None:
    assert ("--create-namespace" in _upgrade_arguments(tmp_path, namespace)) is creates


def test_helm_never_waits_for_pods(tmp_path: Path) -> None:
    arguments = _upgrade_arguments(tmp_path, "n")
    assert not {"--wait", "--rollback-on-failure", "--atomic"} & set(arguments)


def test_the_real_helm_knows_our_arguments(process: ClusterProcess, tmp_path: Path) -> None:
    real = ClusterProcess(
        binary=layer_binaries().helm,
        home=process.home,
        kubeconfig=process.kubeconfig,
        environment=process.environment,
    )
    process.kubeconfig().write_text(_kubeconfig("https://127.0.0.1:1"))

    def patient(arguments: Sequence[str], *, timeout_seconds: float) -> str:
        return real.run(arguments, timeout_seconds=timeout_seconds + PATIENCE_SECONDS)

    client = _client(patient, tmp_path)
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    calls: list[Callable[[], object]] = [
        client.read,
        client.read_last_revision,
        lambda: client.manifest(1),
        lambda: client.roll_back(1),
        client.uninstall,
        lambda: client.upgrade(tmp_path, take_ownership=True, keep_seconds=0),
    ]
    for call in calls:
        # Unreachable, not "unknown flag".
        with pytest.raises((CommandFailedError, UnreachableError), match="connection refused"):
            call()


def _client(run: Run, home: Path, namespace: str = "n") -> ReleaseClient:
    owner = Owner(stack_id="arn:aws:cloudformation:r:1:stack/s/u", logical_id="Helm")
    return ReleaseClient(
        properties=HelmReleaseProperties(
            cluster_name="ml",
            release="r",
            namespace=namespace,
            chart_bucket="b",
            chart_key="c.tgz",
            chart_digest="d",
            values={"a": True},
        ),
        wanted=Wanted(owner=owner, request_id="1", content="abc", attempt="x", now=0),
        turn=Turn(
            Request.from_event(event("Update", "Custom::HelmRelease", {})),
            cloudformation=FakeCloudFormation(),
            journal=partial(journal, FakeTable()),
            clock=Time(lambda_seconds=40).clock,
        ),
        cluster=FakeCluster(),
        run_helm=run,
        run_kubectl=run,
        home=home,
        fetch_chart=lambda: home,
    )


def _upgrade_arguments(home: Path, namespace: str) -> Sequence[str]:
    """Return the arguments with which helm upgrades."""
    ran: list[Sequence[str]] = []

    def run(arguments: Sequence[str], *, timeout_seconds: float) -> str:
        assert timeout_seconds
        ran.append(arguments)
        return ""

    _client(run, home, namespace).upgrade(home, take_ownership=False, keep_seconds=0)
    return ran[0]


def _kubeconfig(server: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "c", "user": {"token": "t"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "current-context": "c",
        }
    )


CAUSES = [
    f"create: failed to create: {TOO_LONG} 1048576 bytes",
    "rpc error: trying to send message larger than max",
    "spec.selector: Invalid value: x: field is immutable",
    'admission webhook "x" denied the request: no',
    'pods "x" is forbidden: exceeded quota: small',
    'deployments.apps is forbidden: User "x" cannot',
    'no matches for kind "PodMonitor" in version "x/v1"',
    "execution error at (c/templates/a.yaml:3:4): set region",
    "helm upgrade was killed by signal 9",
    "dial tcp 10.0.0.1:443: i/o timeout",
    "namespace kubeflow because it is being terminated",
    "pre-upgrade hooks failed: resource Job/a/b not ready. status: InProgress, message: "
    "Job in progress | context deadline exceeded",
    "something new",
]


def test_next_step_fits_the_cause(snapshot: SnapshotAssertion) -> None:
    failures = {said: CommandFailedError(f"Error: UPGRADE FAILED: {said}") for said in CAUSES}
    assert {said: failure.next_step for said, failure in failures.items()} == snapshot


@pytest.mark.parametrize(
    ("said", "passes"),
    [
        ("the server has asked for the client to provide credentials", True),
        ("Post https://x: EOF", True),
        ("another operation (install/upgrade/rollback) is in progress", True),
        ('secrets "sh.helm.release.v1.deps.v1" already exists', True),
        ('no matches for kind "Deployment" in version "apps/v1"', True),
        ('no matches for kind "Namespace" in version "v1"', True),
        ('no matches for kind "ClusterRole" in version "rbac.authorization.k8s.io/v1"', True),
        ('no matches for kind "PodMonitor" in version "monitoring.coreos.com/v1"', False),
        ('no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"', False),
        ('configmaps "a" already exists', False),
        ("pre-install hooks failed: resource Job/a/b not ready | context deadline", False),
        ("pre-install hooks failed: Post https://x: connection refused", True),
        ("field is immutable", False),
    ],
)
def test_what_is_worth_another_attempt(said: str, passes: bool) -> None:
    assert CommandFailedError(f"Error: {said}").is_worth_retrying is passes
