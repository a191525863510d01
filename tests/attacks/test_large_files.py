"""A file that is larger than what is meant, or has no end, gets a line, and is not read whole.

Each is larger than any memory, so that what reads it whole does not get to its line.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cli.deliver.charts.handed_over import take_package
from hyperpod_cli.inspect.archive.archive import read_archive
from hyperpod_cli.inspect.permissions.missing import policy
from hyperpod_cli.operate.quotas.trace import read_trace
from hyperpod_cli.terminal.console import read_given
from hyperpod_cli.terminal.errors import OpsError
from tests.hostile.test_configurations import at, write
from tests.support.configs import REPOSITORY
from tests.support.refusals import without_names

LARGE = 1 << 40
Read = Callable[[Path], object]


def of_slurm(path: Path) -> object:
    """Load a configuration with a file of users."""
    config = path.with_name("config.yaml")
    groups = [
        {
            "name": kind,
            "instance_type": "ml.m5.xlarge",
            "instance_count": 1,
            "slurm": {"node_type": kind},
        }
        for kind in ("controller", "compute")
    ]
    setup = {"setup": {"users": path.name}}
    write(config, {"cluster": {"orchestrator": "slurm", "slurm": setup, "instance_groups": groups}})
    return load_config(config)


def of_key(key: str) -> Read:
    """Return what loads a configuration that names the file."""

    def load(path: Path) -> object:
        config = path.with_name("config.yaml")
        write(config, at(key, path.name))
        return load_config(config)

    return load


READERS: Mapping[str, Read] = {
    "configuration": load_config,
    "cluster.slurm.setup.users": of_slurm,
    "node_health.script": of_key("node_health.script"),
    "helm.chart": read_hyperpod_chart,
    "--jobs": read_trace,
    "--records": lambda path: read_given(path, option="--records"),
    "--policy": policy,
    "rehearse-change": read_archive,
    "charts --from": lambda path: take_package(
        path, pins=REPOSITORY / "charts" / "pins.yaml", output=path.parent
    ),
}


@pytest.mark.parametrize("kind", ["large", "endless"])
@pytest.mark.parametrize("name", READERS)
def test_a_file_without_end_gets_a_line(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given.tgz"
    if kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(LARGE)

    with pytest.raises((ConfigError, HyperPodChartError, OpsError)) as refused:
        READERS[name](path)

    line = without_names(str(refused.value))
    assert "\n" not in line
    assert len(line) < 1_000
