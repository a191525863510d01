"""A packaged chart that someone else made, for a machine that reaches no git server."""

from pathlib import Path

import typer
from pydantic import BaseModel, ValidationError

from hyperpod_cli.deliver.charts.archives import sha256_of
from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME, PROVENANCE_NAME
from hyperpod_cli.deliver.charts.pins import ChartSource, Dependency, first_of, load_pins
from hyperpod_cli.helm.helm import ChartError
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file


class _PackagedFile(BaseModel):
    sha256: str


class _Provenance(BaseModel):
    """What is checked of a provenance; the pins have the same keys."""

    package: _PackagedFile
    source: ChartSource
    dependencies: list[Dependency]
    left_out: list[str]


def take_package(archive: Path, *, pins: Path, output: Path) -> None:
    """Put a package and the provenance beside it into a folder, if both are of what is pinned."""
    provenance = check_package(archive, pins=pins)
    replace_file(output / ARCHIVE_NAME, archive.read_bytes(), mode=PUBLIC)
    replace_file(output / PROVENANCE_NAME, provenance.read_bytes(), mode=PUBLIC)
    typer.echo(f"{output / ARCHIVE_NAME}: from {archive}, which is of what {pins} pins")


def check_package(archive: Path, *, pins: Path) -> Path:
    """Return the provenance beside a package; raise ChartError unless both are of the pins."""
    file = archive.with_name(PROVENANCE_NAME)
    try:
        digest = sha256_of(archive)
        provenance = _Provenance.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ChartError(
            f"{error.filename}: cannot be read ({error.strerror}); take {ARCHIVE_NAME} and "
            f"{PROVENANCE_NAME}, which `hyperpod-cdk charts` wrote into build/charts"
        ) from None
    except ValidationError as error:
        raise ChartError(f"{file}: {first_of(error)}; take the file anew") from None
    if digest != provenance.package.sha256:
        raise ChartError(
            f"{archive}: has SHA-256 {digest}, but {file} names {provenance.package.sha256}; take "
            "both files of the same run of `hyperpod-cdk charts`"
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
    return file
