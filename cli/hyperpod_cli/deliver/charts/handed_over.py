"""A packaged chart that someone else made, for a machine that reaches no git server."""

import hashlib
from pathlib import Path

import typer
from pydantic import BaseModel, ValidationError

from hyperpod_cdk.schema.given_file import given_bytes
from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME, PROVENANCE_NAME
from hyperpod_cli.deliver.charts.pins import first_of, load_pins
from hyperpod_cli.helm.helm import ChartError
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_shared.archives import MOST_PACKAGED_BYTES


class _PackagedFile(BaseModel):
    sha256: str


class _Provenance(BaseModel):
    """What is checked of a provenance."""

    package: _PackagedFile


def take_package(archive: Path, *, pins: Path, output: Path) -> None:
    """Put the pinned package, and the provenance beside it, into a folder."""
    package, provenance = _checked_package(archive, pins=pins)
    replace_file(output / ARCHIVE_NAME, package, mode=PUBLIC)
    replace_file(output / PROVENANCE_NAME, provenance, mode=PUBLIC)
    typer.echo(f"{output / ARCHIVE_NAME}: from {archive}, which {pins} pins")


def _checked_package(archive: Path, *, pins: Path) -> tuple[bytes, bytes]:
    """Return the pinned package and the provenance beside it; raise ChartError for another."""
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
    digest, pinned = hashlib.sha256(content).hexdigest(), load_pins(pins).package_sha256
    if digest != pinned:
        raise ChartError(
            f"{archive}: has SHA-256 {digest}, but {pins} pins {pinned}; take the package that "
            "this version of hyperpod-cdk made"
        )
    if digest != provenance.package.sha256:
        raise ChartError(
            f"{file}: names SHA-256 {provenance.package.sha256}, but {archive} has {digest}; take "
            "both files of the same run of `hyperpod-cdk charts`"
        )
    return content, described


def _read(file: Path) -> bytes:
    """Return what a file has; refuse one that no package is as large as, and what has no end."""
    if file.is_fifo():
        raise ChartError(f"{file}: is a pipe; save the package as a file")
    return given_bytes(file, most_bytes=MOST_PACKAGED_BYTES)
