"""Everything that cannot be packaged is refused with one line, and nothing is written."""

import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.deliver.charts.conftest import masked
from tests.support.upstream_chart import Command, Upstream, pin, remote

NVIDIA, EFA = pin("nvidia-device-plugin", "0.16.1"), pin("aws-efa-k8s-device-plugin", "0.5.20")
Variables = Mapping[str, str] | None
Prepare = Callable[[Upstream, Path], Variables]
"""Spoils the repository, the archives or the pins; returns the variables to set."""


def pinned(**changes: Any) -> Prepare:
    """Pin something else."""

    def prepare(upstream: Upstream, pins: Path) -> None:
        upstream.pins(pins, **changes)

    return prepare


def at_path(path: str) -> Prepare:
    """Pin the chart at another path of the repository."""

    def prepare(upstream: Upstream, pins: Path) -> None:
        source = {"git_url": str(upstream.repository), "git_commit": upstream.commit_id}
        upstream.pins(pins, chart={**source, "path": path})

    return prepare


def committed(change: Callable[[Upstream], object]) -> Prepare:
    """Pin a newer commit."""

    def prepare(upstream: Upstream, pins: Path) -> None:
        change(upstream)
        upstream.commit()
        upstream.pins(pins)

    return prepare


def with_archive(name: str, content: bytes | None = None) -> Prepare:
    """Put a file among the archives: a copy of one of them unless there is a content."""

    def prepare(upstream: Upstream, _: Path) -> None:
        archive = upstream.archives / "nvidia-device-plugin-0.16.1.tgz"
        held = archive.read_bytes() if content is None else content
        (upstream.archives / name).write_bytes(held)

    return prepare


def without_archive(upstream: Upstream, _: Path) -> None:
    (upstream.archives / "nvidia-device-plugin-0.16.1.tgz").unlink()


def closed_port(_: Upstream, __: Path) -> Variables:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    return {"GIT_URL": f"http://someone:secret@127.0.0.1:{port}/charts.git"}


def no_repository(_: Upstream, pins: Path) -> Variables:
    return {"GIT_URL": str(pins.parent)}


def unreadable_regions(upstream: Upstream) -> None:
    agent = upstream.chart / "charts/health-monitoring-agent/templates"
    (agent / "_helpers.tpl").write_text('{{ define "agent.image" }}one{{ end }}')


def newly_required(upstream: Upstream) -> None:
    upstream.requirements.append(remote("kueue", "0.9.0", "https://kueue.invalid", "kueue.enabled"))


REFUSED: Mapping[str, Prepare] = {
    "a repository out of reach": closed_port,
    "a local path without a repository": no_repository,
    "a commit that is not there": lambda *_: {"GIT_COMMIT": "0" * 40},
    "a branch": lambda *_: {"GIT_COMMIT": "main"},
    "a short commit": lambda *_: {"GIT_COMMIT": "011ca92"},
    "another word for the digests": lambda *_: {"DIGESTS": "yes"},
    "a folder of archives that is not there": lambda *_: {"ARCHIVES": "/nowhere/at/all"},
    "an archive that is not in the folder": without_archive,
    "two archives of one chart": with_archive("copy.tgz"),
    "an empty file": with_archive("a.tgz", b""),
    "a file that is no chart": with_archive("a.tgz", b"not an archive"),
    "no such path": at_path("elsewhere"),
    "no chart at the path": at_path("helm_chart"),
    "a dependency that is neither pinned nor left out": pinned(left_out=[]),
    "a pin that the chart does not require": pinned(
        dependencies=[NVIDIA, EFA, pin("keda", "2.17.1")]
    ),
    "a pin of another version": pinned(dependencies=[pin("nvidia-device-plugin", "0.17.0"), EFA]),
    "a pin with an unknown parent": pinned(
        dependencies=[NVIDIA, EFA, pin("keda", "2.17.1", parent="nobody")]
    ),
    "a pin that is left out too": pinned(left_out=["cert-manager", "nvidia-device-plugin"]),
    "a component that is on but incomplete": committed(
        lambda upstream: upstream.values["gpu-operator"].update(enabled=True)
    ),
    "a new dependency upstream": committed(newly_required),
    "regions that can no longer be read": committed(unreadable_regions),
    "a file of the name of the value checks": committed(
        lambda upstream: (upstream.chart / "packaging.json").write_text("{}")
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_packaged_is_refused_in_a_line(
    name: str, run: Command, upstream: Upstream, pins: Path, snapshot: SnapshotAssertion
) -> None:
    variables = REFUSED[name](upstream, pins) or {}

    outcome = run(**{"DIGESTS": "record", **variables})

    assert (outcome.code, outcome.error.count("\n")) == (2, 1)
    assert not (pins.parent / "build").exists()
    assert masked(outcome.error, pins.parent, commit=upstream.commit_id) == snapshot
