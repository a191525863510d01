"""What happens to a release behind the provisioner's back."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_emulator.kubernetes import Fault
from tests.support.patience import PATIENCE_SECONDS, eventually
from tests.support.provisioner.helm_cloud import TOKEN, Cloud


class LambdaKilledError(BaseException):
    """The function ended in the middle of its work: none of its code may react."""


def delay(cloud: Cloud, *, kind: str = "Deployment") -> None:
    """Let no write of a kind end until faults are cleared, or its connection is."""
    cloud.api.inject(Fault(kind=kind, delay_seconds=PATIENCE_SECONDS, times=None))


def kill_lambda(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, work: Callable[[], object], *, when: str
) -> None:
    """Kill helm and the handler while they work, as soon as the release has a status.

    Args:
        cloud: The cloud; its faults are cleared afterwards.
        monkeypatch: The test's monkeypatch.
        work: The request.
        when: What the status has in it at that time, such as `pending`.
    """
    kill_helm(cloud, monkeypatch, work, when=when, ends=LambdaKilledError)


def kill_helm(
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[], object],
    *,
    when: str,
    ends: type[BaseException] | None = None,
) -> None:
    """Kill helm while it works; `ends` is raised in the handler by way of its own end."""
    started: list[subprocess.Popen[str]] = []

    class Watched(subprocess.Popen[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

        def communicate(self, *arguments: Any, **options: Any) -> tuple[Any, Any]:
            said = super().communicate(*arguments, **options)
            if ends is not None and self.returncode < 0:
                raise ends
            return said

    def kill_in_time() -> None:
        wait_for_status(cloud, when)
        started[-1].kill()
        cloud.api.clear_faults()

    killer = Thread(target=kill_in_time)
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Watched)
        killer.start()
        if ends is None:
            work()
        else:
            with pytest.raises(ends):
                work()
        killer.join()


def wait_for_status(cloud: Cloud, status: str) -> None:
    """Wait until the release has a status, such as `pending`."""
    eventually(lambda: has_status(cloud, status))


def has_status(cloud: Cloud, status: str) -> bool:
    """Say whether the release is there, and its status has something in it."""
    return bool(cloud.api.objects("v1", "Secret", "training")) and status in cloud.status()


def helm_by_hand(cloud: Cloud, home: Path, *arguments: str) -> None:
    """Run helm as somebody at a terminal does."""
    authority = home / "ca.pem"
    authority.write_text(cloud.api.ca_pem)
    access = ["--kube-apiserver", cloud.api.url, "--kube-token", TOKEN]
    trust = ["--kube-ca-file", str(authority), "--namespace", "training"]
    subprocess.run(
        [str(layer_binaries().helm), *arguments, *access, *trust],
        check=True,
        capture_output=True,
        env={"HOME": str(home)},
    )
