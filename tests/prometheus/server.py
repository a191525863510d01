"""A Prometheus of the tests' own, with the metrics of `metrics.py` and what the rules record."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from hyperpod_cdk.panels.definition import Watched, watched
from hyperpod_cdk.panels.rules import rules
from tests.prometheus.metrics import BEGIN, EC2, GPU, HOURS, NEURON, PLAIN, open_metrics
from tests.support.configs import configured
from tests.support.patience import PATIENCE_SECONDS, eventually

END = BEGIN + timedelta(hours=HOURS)
STEP_SECONDS = 120
_PORT = re.compile(r'"Listening on" address=127\.0\.0\.1:(\d+)')
# Blocks older than that go when it starts.
_YEARS = "--storage.tsdb.retention.time=100y"


def everything() -> Watched:
    """Return what is watched of a cluster with nodes of each kind."""
    groups = [
        {"name": kind, "instance_type": name, "instance_count": 1}
        for kind, name in (("gpu", GPU), ("neuron", NEURON), ("system", PLAIN))
    ]
    of_ec2 = {"name": "ec2", "instance_types": [EC2], "desired_size": 1}
    return watched(
        configured(
            {
                "region": "us-west-2",
                "cluster": {"instance_groups": groups},
                "node_groups": [of_ec2],
            }
        )
    )


@dataclass(frozen=True, kw_only=True)
class Prometheus:
    """A Prometheus that runs.

    Attributes:
        url: Where.
    """

    url: str

    def series(self, query: str) -> list[tuple[Mapping[str, str], list[tuple[float, float]]]]:
        """Return the labels and values of what a query finds in all the time that there is.

        Args:
            query: In PromQL.
        """
        asked = {
            "query": query,
            "start": BEGIN.timestamp(),
            "end": END.timestamp(),
            "step": STEP_SECONDS,
        }
        found = self._read(f"/api/v1/query_range?{urlencode(asked)}")["data"]["result"]
        return [
            (each["metric"], [(float(at), float(value)) for at, value in each["values"]])
            for each in found
        ]

    def is_ready(self) -> bool:
        """Say whether it answers."""
        try:
            with urlopen(f"{self.url}/-/ready", timeout=PATIENCE_SECONDS):  # noqa: S310
                return True
        except (URLError, ConnectionError):
            return False

    def _read(self, path: str) -> dict[str, Any]:
        with urlopen(f"{self.url}{path}", timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            read: dict[str, Any] = json.load(answer)
        return read


def promtool(*arguments: str | Path) -> str:
    """Run promtool, and return what it prints."""
    ran = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@contextmanager
def serving(folder: Path) -> Iterator[Prometheus]:
    """Have a Prometheus with metrics, and with what the recording rules make of them.

    Args:
        folder: For its data.
    """
    metrics, data, file = folder / "metrics", folder / "data", folder / "rules.yaml"
    metrics.write_text(open_metrics(), "utf-8")
    file.write_text(rules(everything()), "utf-8")
    promtool("tsdb", "create-blocks-from", "openmetrics", metrics, data)
    # promtool evaluates a rule on what the server has: first the prices, then what is made of them.
    for _ in range(2):
        with _running(folder) as started:
            promtool(
                *("tsdb", "create-blocks-from", "rules", f"--url={started.url}"),
                *(f"--start={BEGIN.timestamp():.0f}", f"--end={END.timestamp():.0f}"),
                *("--eval-interval=60s", f"--output-dir={data}", file),
            )
    with _running(folder) as started:
        yield started


@contextmanager
def _running(folder: Path) -> Iterator[Prometheus]:
    settings, log = folder / "prometheus.yaml", folder / "log"
    settings.write_text("{}", "utf-8")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *("prometheus", f"--config.file={settings}", _YEARS),
                *(f"--storage.tsdb.path={folder / 'data'}", "--web.listen-address=127.0.0.1:0"),
            ],
            stdout=output,
            stderr=output,
        )
    try:
        yield _answering(process, log)
    finally:
        process.terminate()
        process.wait()


def _answering(process: subprocess.Popen[bytes], log: Path) -> Prometheus:
    """Return a Prometheus that has started, at the port that it says it has taken."""
    found: list[Prometheus] = []

    def answers() -> bool:
        said = log.read_text("utf-8")
        assert process.poll() is None, said
        port = _PORT.search(said)
        if port is None:
            return False
        found[:] = [Prometheus(url=f"http://127.0.0.1:{port[1]}")]
        return found[0].is_ready()

    eventually(answers)
    return found[0]
