"""A Prometheus with the metrics of a cluster, which the tests of a worker share."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prometheus.server import Prometheus, serving

_HERE = Path(__file__).parent
_NOT_YET, _NEVER = 1, 2
_INSTALLED = subprocess.run(["sh", _HERE / "install.sh", "--check"], check=False).returncode


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of this folder on a machine that cannot have a Prometheus."""
    if _INSTALLED == _NEVER:
        left_out = [item for item in items if _HERE in item.path.parents]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def prometheus_is_installed() -> None:
    """Fail rather than skip what could be installed."""
    if _INSTALLED == _NOT_YET:
        pytest.fail("Prometheus is not installed: run `make setup-prometheus`", pytrace=False)


@pytest.fixture(scope="session")
def prometheus(
    tmp_path_factory: pytest.TempPathFactory, prometheus_is_installed: None
) -> Iterator[Prometheus]:
    """Have a Prometheus with six hours of metrics and of what the rules record."""
    del prometheus_is_installed
    with serving(tmp_path_factory.mktemp("prometheus")) as started:
        yield started
