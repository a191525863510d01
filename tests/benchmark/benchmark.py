"""Prints the project's figures: synthesis ratios, first error, package size, import time.

Ratios of whole processes, run in turn; quote the medians. Run with `make benchmark`.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from tests.support.configs import REPOSITORY
from tests.support.provisioner import large_cluster

_CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
_RUNS = 7
_EMPTY_APP = "import aws_cdk\napp = aws_cdk.App()\naws_cdk.Stack(app, 'Empty')\napp.synth()\n"
_MOST_SYNTH_RATIO = 1.6
_MOST_LARGE_RATIO = 2
_MOST_FIRST_ERROR_SECONDS = 2.0
_MOST_PACKAGE_MB = 12.0
_MOST_HELP_RATIO = 3
_MOST_HELP_SECONDS = 0.5
_MB = 1_000_000


def main() -> None:
    """Measure and print everything."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        _synthesis(directory)
        _first_error(directory)
        package = _package(directory)
        _handler_import(package)
        _help()


def _synthesis(directory: Path) -> None:
    chart = directory / "chart.tgz"
    with tarfile.open(chart, "w:gz") as archive:
        archive.add(_CHART, arcname=_CHART.name)
    document = yaml.safe_load((REPOSITORY / "config" / "default.yaml").read_text("utf-8"))
    document["helm"]["chart"] = str(chart)
    default = _synth(document, directory=directory / "default")
    document["cluster"]["instance_groups"] = _many_groups()
    large = _synth(document, directory=directory / "large")
    empty = directory / "empty.py"
    empty.write_text(_EMPTY_APP, encoding="utf-8")

    of_empty = _in_turn(default, lambda: run([sys.executable, str(empty)]))
    _print("default config", "empty app", of_empty, most=_MOST_SYNTH_RATIO)
    name = f"{large_cluster.GROUPS} groups of {large_cluster.INSTANCES:,}"
    _print(name, "default config", _in_turn(large, default), most=_MOST_LARGE_RATIO)


def _many_groups() -> list[dict[str, object]]:
    """Return the most that HyperPod allows, in existing subnets: no VPC here holds them."""
    return [
        {
            "name": f"{'worker-group-':w<50}{number:03}",
            "instance_type": "ml.m5.2xlarge",
            "instance_count": large_cluster.INSTANCES,
            "override_vpc": {"subnet_ids": [f"subnet-{number:017x}"]},
        }
        for number in range(large_cluster.GROUPS)
    ]


def _synth(document: object, *, directory: Path) -> Callable[[], object]:
    directory.mkdir()
    config, output = directory / "config.yaml", directory / "cdk.out"
    config.write_text(yaml.safe_dump(document), encoding="utf-8")

    def synth() -> None:
        shutil.rmtree(output, ignore_errors=True)
        context = json.dumps({"config": str(config)})
        given = {"CDK_OUTDIR": str(output), "CDK_CONTEXT_JSON": context}
        run([sys.executable, "app.py"], environment=given)

    return synth


def _print(name: str, other: str, pairs: Sequence[tuple[float, float]], *, most: float) -> None:
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    seconds, others = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"synth: {name} {seconds:.2f} s, {other} {others:.2f} s, ratio {ratio:.2f} (at most {most})"
    )


def _first_error(directory: Path) -> None:
    config = directory / "typo.yaml"
    text = (REPOSITORY / "config" / "default.yaml").read_text("utf-8")
    config.write_text(text.replace("instance_type:", "instance_typ:"), encoding="utf-8")

    def refuse() -> None:
        run(
            [sys.executable, "app.py"],
            code=2,
            environment={
                "CDK_OUTDIR": str(directory / "typo"),
                "CDK_CONTEXT_JSON": json.dumps({"config": str(config)}),
            },
        )

    seconds = statistics.median(seconds_of(refuse) for _ in range(_RUNS))
    print(f"first error: {seconds:.2f} s (at most {_MOST_FIRST_ERROR_SECONDS:.0f})")


def _package(directory: Path) -> Path:
    template = directory / "default" / "cdk.out"
    package = next(path.parent for path in template.glob("asset.*/provisioner"))
    archive = directory / "provisioner.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(package.rglob("*")):
            target.write(path, path.relative_to(package))
    size = archive.stat().st_size / _MB
    print(f"provisioner package: {size:.1f} MB zipped (at most {_MOST_PACKAGE_MB:.0f})")
    return package


def _handler_import(package: Path) -> None:
    code = "import provisioner.handler"
    times = [
        seconds
        for seconds, _ in _in_turn(
            lambda: run(
                [sys.executable, "-S", "-c", code], environment={"PYTHONPATH": str(package)}
            ),
            lambda: run([sys.executable, "-S", "-c", "pass"]),
        )
    ]
    print(f"provisioner import: {statistics.median(times):.2f} s for a whole cold process")


def _help() -> None:
    pairs = _in_turn(
        lambda: run([sys.executable, "-m", "hyperpod_cli", "--help"]),
        lambda: run([sys.executable, "-c", "import typer"]),
    )
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    seconds, others = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"hyperpod-cdk --help: {seconds:.2f} s (at most {_MOST_HELP_SECONDS}), import typer "
        f"{others:.2f} s, ratio {ratio:.2f} (at most {_MOST_HELP_RATIO})"
    )


def _in_turn(
    first: Callable[[], object], second: Callable[[], object]
) -> list[tuple[float, float]]:
    for warm_up in (first, second):
        warm_up()
    return [(seconds_of(first), seconds_of(second)) for _ in range(_RUNS)]


def seconds_of(action: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def run(
    command: Sequence[str],
    *,
    code: int = 0,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command, which must end with a code; return its output."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={"PATH": path, "HOME": str(Path.home()), **(environment or {})},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != code:
        sys.exit(f"{' '.join(command)[:200]} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
