"""Prints what a Helm release takes: seconds beside the reference flow, and memory.

Ours is the whole handler (on_event, is_complete) with the chart packaged beforehand. The reference
is what the public installers do at deploy time on the same machine and API: copy the chart's
folder, build its dependencies, run helm; cloning it from GitHub, which they also do, is left out.
Quote the ratios: seconds are this machine's. Run with `python tests/benchmark/helm_benchmark.py`.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
_VERSIONS = ("1.0.0", "2.0.0")
_ROUNDS = 5
_LEAST_RATIO = {"install": 1.0, "no-op": 3.0, "upgrade": 1.0}
_MOST_MEMORY_MB = 512
_MB = 1_000_000
_KIB = 1024


def main() -> None:
    """Measure and print everything."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for version in _VERSIONS:
            _python("helm_chart_maker", str(folder / version), version)
        seconds: dict[str, list[tuple[float, float]]] = {step: [] for step in _LEAST_RATIO}
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
        ours, reference = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(other / mine for mine, other in pairs)
        print(
            f"helm {step}: ours {ours:.2f} s, reference flow {reference:.2f} s, "
            f"{ratio:.1f} times faster (at least {_LEAST_RATIO[step]:.1f})"
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
    """Return the seconds of install, no-op and upgrade, and the memory of them all."""
    charts = [f"large-{version}.tgz" for version in _VERSIONS]
    requests = [f"Create {charts[0]}", f"Update {charts[0]}", f"Update {charts[1]}"]
    lines = _python(
        "helm_handler_run",
        json.dumps({**about, "charts": str(packages)}),
        stdin="\n".join(requests),
    ).splitlines()
    return tuple(float(line) for line in lines[:-1]), json.loads(lines[-1])


def _reference(about: Mapping[str, str], folder: Path) -> tuple[float, ...]:
    """Return the seconds of install, no-op and upgrade."""
    install = _reference_flow(about, folder / _VERSIONS[0], "install")
    again = _reference_flow(about, folder / _VERSIONS[0], "upgrade")
    upgrade = _reference_flow(about, folder / _VERSIONS[1], "upgrade")
    return install, again, upgrade


def _reference_flow(about: Mapping[str, str], charts: Path, verb: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        begun = time.perf_counter()
        chart = str(shutil.copytree(charts / "large", Path(home) / "large"))
        environment = {"HOME": home, "HELM_CACHE_HOME": f"{home}/cache"}
        _run([about["helm"], "dependency", "build", chart], environment)
        authority = Path(home) / "ca.pem"
        authority.write_text(about["ca"], "utf-8")
        access = ["--kube-apiserver", about["url"], "--kube-token", about["token"]]
        trust = ["--kube-ca-file", str(authority), "--namespace", "kube-system"]
        _run([about["helm"], verb, "large", chart, *access, *trust], environment)
        return time.perf_counter() - begun


def _packages(folder: Path, about: Mapping[str, str]) -> Path:
    packages = folder / "packages"
    if not packages.is_dir():
        for version in _VERSIONS:
            chart = str(folder / version / "large")
            _run([about["helm"], "package", chart, "--destination", str(packages)], {})
    return packages


@contextmanager
def _api() -> Iterator[dict[str, str]]:
    """Run a fresh Kubernetes API."""
    with subprocess.Popen(
        _module("helm_api_server"),
        cwd=_REPOSITORY,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            sys.exit("the Kubernetes API did not start")
        yield json.loads(line)
        process.stdin.close()


def _python(module: str, *arguments: str, stdin: str = "") -> str:
    return _run([*_module(module), *arguments], _environment(), stdin=stdin)


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", f"tests.benchmark.{name}"]


def _environment() -> dict[str, str]:
    paths = [str(_REPOSITORY / "lambda"), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _run(command: list[str], environment: Mapping[str, str], *, stdin: str = "") -> str:
    done = subprocess.run(
        command,
        cwd=_REPOSITORY,
        env={"PATH": os.defpath, "HOME": str(Path.home()), **environment},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)[:200]} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
