"""What the emulator's tests share, and their independence of the caller's shell."""

import os
import signal
from collections.abc import Iterator

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster


def pytest_configure() -> None:
    """Let no test depend on an AWS account, or on signals that a shell ignores or blocks.

    Child processes inherit both, and tests end their children with SIGTERM.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for name in [*os.environ]:
        if name == "KUBECONFIG" or name.startswith("AWS_"):
            del os.environ[name]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a Kubernetes API that the tests of one file share."""
    with running_cluster(tmp_path_factory.mktemp("home")) as running:
        yield running
