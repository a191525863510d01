"""Prints what a Helm release takes: seconds beside the reference flow, and memory.

Ours is the whole handler (on_event, is_complete) with the chart packaged beforehand. The reference
is what the public installers do at deploy time on the same machine and API: copy the chart's
folder, build its dependencies, run helm; cloning it from GitHub, which they also do, is left out.
Each figure is the best of several rounds: what else the machine does only ever adds. Run with
`python -m tests.benchmark.helm_benchmark`.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_emulator.kubernetes import KubernetesApi, Principal, static_tokens
from tests.benchmark.benchmark import run
from tests.benchmark.helm_chart_maker import write_chart

_TOKEN = "k8s-aws-v1.benchmark"  # noqa: S105 - known to this API only
# From one to the next: first images alone change, then the CRDs too.
_VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
_ROUNDS = 5
_STEPS = {
    "install": "at least 1.0 wanted",
    "no-op": "at least 3.0 wanted",
    "upgrade of images": "ours also looks after 5 CRDs and what users have",
    "upgrade of CRDs too": "the reference leaves 5 of the 6 as they were",
}
_MOST_MEMORY_MB = 512
_MB = 1_000_000
_KIB = 1024


def main() -> None:
    """Measure and print everything."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for version in _VERSIONS:
            write_chart(folder / version, version)
        seconds: dict[str, list[tuple[float, float]]] = {step: [] for step in _STEPS}
        memory: list[Mapping[str, int]] = []
        for _ in range(_ROUNDS):
            with _api() as about:
                packages = _packages(folder, about)
                ours, used = _ours(about, packages)
            with _api() as about:
                reference = _reference(about, folder)
            memory.append(used)
            for step, pair in zip(seconds, zip(ours, reference, strict=True), strict=True):
                seconds[step].append(pair)
        _print_seconds(seconds)
        _print_memory(memory)


def _print_seconds(seconds: Mapping[str, list[tuple[float, float]]]) -> None:
    for step, pairs in seconds.items():
        ours, reference = (min(column) for column in zip(*pairs, strict=True))
        print(
            f"helm {step}: ours {ours:.2f} s, reference flow {reference:.2f} s, "
            f"{reference / ours:.2f} times as fast ({_STEPS[step]})"
        )


def _print_memory(memory: list[Mapping[str, int]]) -> None:
    own, child = (
        max(used[key] for used in memory) * _KIB / _MB for key in ("own_kib", "child_kib")
    )
    print(
        f"helm memory: handler {own:.0f} MB and its largest child {child:.0f} MB at their peaks, "
        f"{own + child:.0f} MB together (under {_MOST_MEMORY_MB})"
    )


def _ours(about: Mapping[str, str], packages: Path) -> tuple[tuple[float, ...], Mapping[str, int]]:
    """Return the seconds of each step, and the memory of them all."""
    first, *later = (f"large-{version}.tgz" for version in _VERSIONS)
    requests = [f"Create {first}", f"Update {first}", *(f"Update {chart}" for chart in later)]
    program = [sys.executable, "-m", "tests.benchmark.helm_handler_run"]
    given = json.dumps({**about, "charts": str(packages)})
    paths = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    lines = run([*program, given], stdin="\n".join(requests), environment=paths).splitlines()
    return tuple(float(line) for line in lines[:-1]), json.loads(lines[-1])


def _reference(about: Mapping[str, str], folder: Path) -> tuple[float, ...]:
    """Return the seconds of each step."""
    return (
        _reference_flow(about, folder / _VERSIONS[0], "install"),
        *(_reference_flow(about, folder / version, "upgrade") for version in _VERSIONS),
    )


def _reference_flow(about: Mapping[str, str], charts: Path, verb: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        begun = time.perf_counter()
        chart = str(shutil.copytree(charts / "large", Path(home) / "large"))
        environment = {"HOME": home, "HELM_CACHE_HOME": f"{home}/cache"}
        run([about["helm"], "dependency", "build", chart], environment=environment)
        authority = Path(home) / "ca.pem"
        authority.write_text(about["ca"], "utf-8")
        access = ["--kube-apiserver", about["url"], "--kube-token", about["token"]]
        trust = ["--kube-ca-file", str(authority), "--namespace", "kube-system"]
        run([about["helm"], verb, "large", chart, *access, *trust], environment=environment)
        return time.perf_counter() - begun


def _packages(folder: Path, about: Mapping[str, str]) -> Path:
    packages = folder / "packages"
    if not packages.is_dir():
        for version in _VERSIONS:
            chart = str(folder / version / "large")
            run([about["helm"], "package", chart, "--destination", str(packages)])
    return packages


@contextmanager
def _api() -> Iterator[dict[str, str]]:
    """Run a fresh Kubernetes API."""
    anybody = static_tokens({_TOKEN: Principal(username="benchmark", allowed=True)})
    binaries = layer_binaries()
    with KubernetesApi(authenticate=anybody) as api:
        yield {
            "url": api.url,
            "ca": api.ca_pem,
            "token": _TOKEN,
            "helm": str(binaries.helm),
            "kubectl": str(binaries.kubectl),
        }


if __name__ == "__main__":
    main()
