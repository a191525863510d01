"""Prints the project's figures: synthesis against an empty app, package size, import time.

Ratios of whole processes, run in turn; quote the medians. Run with `make benchmark`.
"""

import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
_CHART = _REPOSITORY / "rehearsal" / "chart" / "hyperpod-helm-chart"
_RUNS = 7
_EMPTY_APP = "import aws_cdk\napp = aws_cdk.App()\naws_cdk.Stack(app, 'Empty')\napp.synth()\n"
_MOST_SYNTH_RATIO = 1.6
_MOST_PACKAGE_MB = 12.0
_MB = 1_000_000


def main() -> None:
    """Measure and print everything."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        _synthesis(directory)
        package = _package(directory)
        _handler_import(package)


def _synthesis(directory: Path) -> None:
    chart = directory / "chart.tgz"
    with tarfile.open(chart, "w:gz") as archive:
        archive.add(_CHART, arcname=_CHART.name)
    config = directory / "config.yaml"
    default = (_REPOSITORY / "config" / "default.yaml").read_text(encoding="utf-8")
    config.write_text(default.replace("\nhelm:\n", f"\nhelm:\n  chart: {chart}\n"), "utf-8")
    empty = directory / "empty.py"
    empty.write_text(_EMPTY_APP, encoding="utf-8")

    def ours() -> None:
        output = directory / "cdk.out"
        shutil.rmtree(output, ignore_errors=True)
        context = f'{{"config": "{config}"}}'
        _run([sys.executable, "app.py"], CDK_OUTDIR=str(output), CDK_CONTEXT_JSON=context)

    pairs = _in_turn(ours, lambda: _run([sys.executable, str(empty)]))
    ratio = statistics.median(mine / other for mine, other in pairs)
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"synth: default config {mine:.2f} s, empty app {other:.2f} s, "
        f"ratio {ratio:.2f} (at most {_MOST_SYNTH_RATIO})"
    )


def _package(directory: Path) -> Path:
    template = directory / "cdk.out"
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
            lambda: _run([sys.executable, "-S", "-c", code], PYTHONPATH=str(package)),
            lambda: _run([sys.executable, "-S", "-c", "pass"]),
        )
    ]
    print(f"provisioner import: {statistics.median(times):.2f} s for a whole cold process")


def _in_turn(first: Callable[[], None], second: Callable[[], None]) -> list[tuple[float, float]]:
    for warm_up in (first, second):
        warm_up()
    return [(_seconds(first), _seconds(second)) for _ in range(_RUNS)]


def _seconds(action: Callable[[], None]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def _run(command: Sequence[str], **environment: str) -> None:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command,
        cwd=_REPOSITORY,
        env={"PATH": path, "HOME": str(Path.home()), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")


if __name__ == "__main__":
    main()
