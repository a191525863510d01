"""Packages the official chart as pinned with its provenance, where the deployment expects it."""

import gzip
import hashlib
import io
import json
import shutil
import struct
import tarfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.pipeline.section import ChartArchiveConfig
from hyperpod_cli.deliver.charts.archives import (
    Archive,
    check_digests,
    check_requirements,
    collect_archives,
    drop_stale_archives,
    leave_out,
    place_archives,
    read_chart_directory,
    sha256_of,
)
from hyperpod_cli.deliver.charts.git_source import check_out_chart
from hyperpod_cli.deliver.charts.inspection import absent_charts, add_value_checks, agent_regions
from hyperpod_cli.deliver.charts.manifest import follow_registry, images, parse_objects
from hyperpod_cli.deliver.charts.pins import NOT_RECORDED, Settings
from hyperpod_cli.helm.helm import ChartError, CommandError, Helm
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file

_STORED_BLOCK = 0xFFFF
# Magic, method deflate, no flags, no time, no hint, unknown system (RFC 1952).
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_FILE_MODE = 0o644


def pack(directory: Path) -> bytes:
    """Return the .tgz of a directory: sorted, without times, owners or modes of this machine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in sorted(path for path in directory.rglob("*") if path.is_file()):
            content = file.read_bytes()
            member = tarfile.TarInfo(f"{directory.name}/{file.relative_to(directory).as_posix()}")
            member.size, member.mode = len(content), _FILE_MODE
            tar.addfile(member, io.BytesIO(content))
    return _gzip_stored(buffer.getvalue())


def _unpack(archive: Path, *, into: Path) -> Path:
    """Unpack a packaged chart's files and return the chart's directory."""
    # By hand: extractall refuses such files from Python 3.11.4 on only.
    with gzip.open(archive) as stream, tarfile.open(fileobj=stream) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            target = (into / member.name).resolve()
            if not target.is_relative_to(into.resolve()):
                raise ValueError(f"{archive}: {member.name} would land outside the chart")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
    return next(file.parent for file in into.glob("*/Chart.yaml"))


def _gzip_stored(data: bytes) -> bytes:
    """Wrap bytes as gzip without compressing: zlib and its replacements compress differently."""
    chunks = [data[at : at + _STORED_BLOCK] for at in range(0, len(data), _STORED_BLOCK)] or [b""]
    blocks = [
        struct.pack("<BHH", index == len(chunks) - 1, len(chunk), len(chunk) ^ 0xFFFF) + chunk
        for index, chunk in enumerate(chunks)
    ]
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return b"".join([_GZIP_HEADER, *blocks, trailer])


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """A packaged chart, and where everything in it came from, ready for JSON."""

    file: Path
    archives: list[Archive]
    provenance: dict[str, Any]


def package(settings: Settings, *, helm: Helm, workspace: Path) -> Package:
    """Package the official chart in a workspace, a folder that is not there yet."""
    workspace.mkdir()
    source = settings.pins.chart
    typer.echo(f"[1/4] chart {source.path} of {source.shown_url} at {source.git_commit}")
    chart = check_out_chart(source=source, workspace=workspace)
    original = read_chart_directory(chart)
    dropped = drop_stale_archives(chart)
    check_requirements(chart, pins=settings.pins)

    typer.echo("[2/4] dependencies")
    archives = collect_archives(
        settings.pins.dependencies, folder=settings.archives, helm=helm, workspace=workspace
    )
    if settings.digests == "check":
        check_digests(archives, pin_file=settings.pin_file)
    place_archives(chart, archives=archives)
    leave_out(chart, names=settings.pins.left_out)

    typer.echo("[3/4] packing")
    tree = _complete_tree(chart, helm=helm, workspace=workspace)
    left_out = [entry for entry in original.requirements if entry.name in settings.pins.left_out]
    absent = absent_charts(tree, left_out=left_out)
    regions = agent_regions(tree)
    changed = follow_registry(tree)
    added = add_value_checks(tree, chart=original, absent=absent, regions=regions)
    file = workspace / f"{original.name}.tgz"
    file.write_bytes(pack(tree))
    pinned, made = settings.pins.package_sha256, sha256_of(file)
    if settings.digests == "check" and pinned not in (NOT_RECORDED, made):
        raise ChartError(
            f"the package has SHA-256 {made}, but {settings.pin_file} pins {pinned}; package it "
            f"with another helm than {helm.version()}, or, if you changed what it is made of, run "
            "`CHART_DIGESTS=record hyperpod-cdk charts`"
        )

    typer.echo("[4/4] rendering")
    objects = parse_objects(_render(file, helm=helm, region=regions[0]))
    provenance = {
        "chart": original.model_dump(exclude={"requirements"}),
        "source": {**source.model_dump(), "git_url": source.shown_url},
        "dependencies": [
            archive.dependency.model_dump(exclude={"sha256"}) | {"sha256": archive.sha256}
            for archive in archives
        ],
        "left_out": settings.pins.left_out,
        "absent": [asdict(entry) for entry in absent],
        "dropped": dropped,
        "added": added,
        "changed": changed,
        "health_monitoring_agent_regions": regions,
        "helm_version": helm.version(),
        "rendered": {"region": regions[0], "objects": list(objects), "images": images(objects)},
    }
    return Package(file=file, archives=archives, provenance=provenance)


def _complete_tree(chart: Path, *, helm: Helm, workspace: Path) -> Path:
    """Let helm apply `.helmignore`, check and unpack the dependencies; keep the files it leaves.

    Its own archive is of no use: the order of the dependencies in it changes from run to run.
    """
    packed, unpacked = workspace / "packed", workspace / "unpacked"
    packed.mkdir()
    try:
        archive = helm.package(chart, into=packed)
    except CommandError as error:
        raise ChartError(f"helm cannot package the chart: {error}") from error
    tree = _unpack(archive, into=unpacked)
    shutil.rmtree(packed)
    return tree


def _render(file: Path, *, helm: Helm, region: str) -> str:
    try:
        return helm.template(file, values={"health-monitoring-agent": {"region": region}})
    except CommandError as error:
        raise ChartError(
            f"the packaged chart does not render with its defaults: {error}"
        ) from error


# The name does not carry the chart's version: upstream never raises it.
ARCHIVE_NAME = "hyperpod-helm-chart.tgz"
PROVENANCE_NAME = "hyperpod-helm-chart.provenance.json"


def publish(package: Package, *, output: Path) -> Path:
    """Write the archive and its provenance into a folder, and return the archive."""
    archive = output / ARCHIVE_NAME
    described = {
        "package": {
            "file": ARCHIVE_NAME,
            "sha256": sha256_of(package.file),
            "bytes": package.file.stat().st_size,
        },
        **package.provenance,
    }
    # Provenance last: when it names the archive's digest, both are complete.
    replace_file(archive, package.file.read_bytes(), mode=PUBLIC)
    text = json.dumps(described, indent=2) + "\n"
    replace_file(output / PROVENANCE_NAME, text, mode=PUBLIC)
    return archive


def fetch(chart: ChartArchiveConfig, *, session: boto3.Session, output: Path) -> None:
    """Write the archive into a folder, unless it is there."""
    archive, place = output / ARCHIVE_NAME, f"s3://{chart.bucket}/{chart.key}"
    if archive.is_file() and sha256_of(archive) == chart.sha256:
        return
    try:
        found = session.client("s3").get_object(Bucket=chart.bucket, Key=chart.key)
        content = found["Body"].read()
    except (BotoCoreError, ClientError) as error:
        raise ChartError(f"{place}: cannot be read: {error}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != chart.sha256:
        raise ChartError(
            f"{place}: has SHA-256 {digest}, but pipeline.chart.sha256 pins {chart.sha256}; upload "
            "the pinned file, or pin this one"
        )
    replace_file(archive, content, mode=PUBLIC)
    typer.echo(f"{archive}: from {place}, {len(content) / 1e6:.1f} MB")
