"""A packaged chart that someone else made, for a machine that reaches no git server."""

import hashlib
from pathlib import Path

import typer
from pydantic import BaseModel, ValidationError

from hyperpod_cli.deliver.charts.archives import chart_file_of
from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME, PROVENANCE_NAME
from hyperpod_cli.deliver.charts.pins import ChartSource, Dependency, first_of, load_pins
from hyperpod_cli.helm.helm import ChartError
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_shared.archives import CHART_LIMIT_BYTES

# What is not compressed, as the package is, is a little larger than what it holds.
_MOST_BYTES = 2 * CHART_LIMIT_BYTES


class _PackagedFile(BaseModel):
    sha256: str


class _PackagedChart(BaseModel):
    name: str
    version: str


class _Provenance(BaseModel):
    """What is checked of a provenance; the pins have the same keys."""

    package: _PackagedFile
    chart: _PackagedChart
    source: ChartSource
    dependencies: list[Dependency]
    left_out: list[str]


def take_package(archive: Path, *, pins: Path, output: Path) -> None:
    """Put a package and the provenance beside it into a folder, if both are of what is pinned."""
    package, provenance = checked_package(archive, pins=pins)
    replace_file(output / ARCHIVE_NAME, package, mode=PUBLIC)
    replace_file(output / PROVENANCE_NAME, provenance, mode=PUBLIC)
    typer.echo(f"{output / ARCHIVE_NAME}: from {archive}, which is of what {pins} pins")


def checked_package(archive: Path, *, pins: Path) -> tuple[bytes, bytes]:
    """Return a package and the provenance beside it; raise ChartError unless both are of the pins.

    The provenance vouches for the package, so it comes from someone whom one trusts; what would
    lead out of the chart's folder, or fill a disk, is refused all the same.
    """
    file = archive.with_name(PROVENANCE_NAME)
    try:
        content, described = (_read(each) for each in (archive, file))
        provenance = _Provenance.model_validate_json(described)
    except OSError as error:
        raise ChartError(
            f"{error.filename}: cannot be read ({error.strerror}); take {ARCHIVE_NAME} and "
            f"{PROVENANCE_NAME}, which `hyperpod-cdk charts` wrote into build/charts"
        ) from None
    except ValidationError as error:
        raise ChartError(f"{file}: {first_of(error)}; take the file anew") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != provenance.package.sha256:
        raise ChartError(
            f"{archive}: has SHA-256 {digest}, but {file} names {provenance.package.sha256}; take "
            "both files of the same run of `hyperpod-cdk charts`"
        )
    chart = chart_file_of(content, archive=archive)
    if (chart.name, chart.version) != (provenance.chart.name, provenance.chart.version):
        raise ChartError(
            f"{archive}: is {chart.name} {chart.version}, but {file} describes "
            f"{provenance.chart.name} {provenance.chart.version}; take both files anew"
        )
    pinned = load_pins(pins)
    for key, found, wanted in (
        ("source.git_commit", provenance.source.git_commit, pinned.chart.git_commit),
        ("source.path", provenance.source.path, pinned.chart.path),
        ("dependencies", provenance.dependencies, pinned.dependencies),
        ("left_out", provenance.left_out, pinned.left_out),
    ):
        if found != wanted:
            raise ChartError(
                f"{file}: {key}: is {found}, but {pins} pins {wanted}; take a package that this "
                "version of hyperpod-cdk made"
            )
    return content, described


def _read(file: Path) -> bytes:
    """Return what a file has; refuse one that no package is as large as, and what has no end."""
    with file.open("rb") as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ChartError(f"{file}: has more than {_MOST_BYTES:,} bytes; take the file anew")
    return content
