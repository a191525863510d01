"""Running helm: its surroundings, its end, and the real binary's opinion of our arguments."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from provisioner.framework.errors import ProvisioningError
from provisioner.helm.commands import Helm, upgrade_arguments
from provisioner.kubernetes import process as cluster_process
from provisioner.kubernetes.failures import CommandFailedError, last_lines
from provisioner.kubernetes.layer import layer_binary
from provisioner.kubernetes.process import ClusterProcess
from rehearsal.layer_binaries import layer_binaries

LABELS = {"hyperpod-cdk/owner": "abc", "hyperpod-cdk/stack": "ml-hyperpod"}


class Anything:
    """Knows every release, so that helm is asked."""

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        return bool(name and namespace and timeout_seconds)


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
        line.split("=", 1) for line in process.run(["x"], timeout_seconds=5).splitlines()
    )
    home = str(process.home)
    for name in ("HOME", "TMPDIR", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        assert variables[name].startswith(home)
    assert variables["KUBECONFIG"] == str(process.kubeconfig())
    assert not [name for name in variables if name.startswith("AWS_")]


def test_helm_that_takes_too_long_may_record_its_failure(
    process: ClusterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_process, "STOP_GRACE_SECONDS", 5.0)
    _script(
        process,
        "trap 'touch recorded; echo Error: cancelled >&2; exit 1' TERM",
        "while :; do sleep 0.05; done",
    )
    with pytest.raises(CommandFailedError, match=r"did not end within 1 s .* cancelled"):
        process.run(["upgrade"], timeout_seconds=1)
    assert (process.home / "recorded").exists()


def test_helm_that_ignores_the_signal_is_killed(
    process: ClusterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_process, "STOP_GRACE_SECONDS", 0.2)
    _script(process, "trap '' TERM", "exec 1>&- 2>&-", "while :; do :; done")
    with pytest.raises(CommandFailedError, match="was stopped"):
        process.run(["upgrade"], timeout_seconds=1)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("level=WARN msg=x\nError: UPGRADE FAILED: a\n  b\n", "UPGRADE FAILED: a | b"),
        ("Error: first\nError: last", "last"),
        ("Error: denied\ndenied\ndenied", "denied"),
        ("\n".join(map(str, range(20))), "14 | 15 | 16 | 17 | 18 | 19"),
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
    assert (error.is_transient, error.is_terminating, error.is_not_found) == (
        transient,
        terminating,
        not_found,
    )


def test_binary_is_found_in_a_mounted_layer(tmp_path: Path) -> None:
    (tmp_path / "b" / "helm").mkdir(parents=True)
    (tmp_path / "b" / "helm" / "helm").touch()
    layers = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])
    assert layer_binary("helm", {"_LAMBDA_LAYERS_DIRS": layers}) == tmp_path / "b" / "helm" / "helm"


def test_missing_binary_names_the_layer() -> None:
    with pytest.raises(ProvisioningError, match="Attach the kubectl layer"):
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
    release = Helm(process=process, listing=Anything()).release(
        "r", namespace="n", timeout_seconds=5
    )
    assert release is not None
    assert [revision.number for revision in release.revisions] == [1, 2]
    assert release.last.status == "failed"
    assert release.labels == LABELS


def test_absent_release_is_none_and_uninstalling_it_a_success(process: ClusterProcess) -> None:
    _script(process, "echo 'Error: release: not found' >&2; exit 1")
    helm = Helm(process=process, listing=Anything())
    assert helm.release("r", namespace="n", timeout_seconds=5) is None
    helm.uninstall("r", namespace="n", timeout_seconds=5)


@pytest.mark.parametrize(
    ("namespace", "creates"), [("kube-system", False), ("default", False), ("training", True)]
)
def test_namespaces_of_the_cluster_are_not_made(namespace: str, creates: bool) -> None:
    assert ("--create-namespace" in _arguments(namespace)) is creates


def test_helm_never_waits_for_pods() -> None:
    assert not {"--wait", "--rollback-on-failure", "--atomic"} & set(_arguments("n"))


def test_the_real_helm_knows_our_arguments(process: ClusterProcess, tmp_path: Path) -> None:
    real = ClusterProcess(
        binary=layer_binaries().helm,
        home=process.home,
        kubeconfig=process.kubeconfig,
        environment=process.environment,
    )
    process.kubeconfig().write_text(_kubeconfig("https://127.0.0.1:1"))
    helm = Helm(process=real, listing=Anything())
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    calls: list[Callable[[], object]] = [
        lambda: helm.release("r", namespace="n", timeout_seconds=20),
        lambda: helm.roll_back("r", 1, namespace="n", timeout_seconds=20),
        lambda: helm.uninstall("r", namespace="n", timeout_seconds=20),
        lambda: helm.upgrade(
            "r",
            namespace="n",
            chart=tmp_path,
            values={"a": True},
            labels=LABELS,
            description="Content abc",
            take_ownership=True,
            timeout_seconds=20,
        ),
    ]
    for call in calls:
        with pytest.raises(CommandFailedError) as failed:
            call()
        assert failed.value.is_transient, failed.value  # unreachable, not "unknown flag"


def _arguments(namespace: str) -> list[str]:
    return upgrade_arguments(
        "r",
        namespace=namespace,
        chart=Path("c.tgz"),
        values_file=Path("v.json"),
        labels=LABELS,
        description="d",
        take_ownership=False,
        timeout_seconds=10,
    )


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
