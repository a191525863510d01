"""Writes the package where the deployment expects it, or fetches it from S3."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.pipeline.section import ChartArchiveConfig
from hyperpod_cli.deliver.charts.archives import sha256_of
from hyperpod_cli.deliver.charts.commands import ChartError
from hyperpod_cli.deliver.charts.package import Package

# The name does not carry the chart's version: upstream never raises it.
ARCHIVE_NAME = "hyperpod-helm-chart.tgz"
PROVENANCE_NAME = "hyperpod-helm-chart.provenance.json"


def publish(package: Package, *, output: Path) -> Path:
    """Write the archive and its provenance into a folder.

    Returns:
        The archive.
    """
    output.mkdir(parents=True, exist_ok=True)
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
    replace(archive, content=package.file.read_bytes())
    text = json.dumps(described, indent=2) + "\n"
    replace(output / PROVENANCE_NAME, content=text.encode())
    return archive


def replace(file: Path, *, content: bytes) -> None:
    """Write a file so that a reader sees the old one or the new one."""
    with tempfile.TemporaryDirectory(prefix=f".{file.name}-", dir=file.parent) as folder:
        unfinished = Path(folder) / file.name
        unfinished.write_bytes(content)
        unfinished.replace(file)


def fetch(
    chart: ChartArchiveConfig,
    *,
    session: boto3.Session,
    output: Path,
    report: Callable[[str], None],
) -> None:
    """Write the archive into a folder, unless it is there.

    Raises:
        ChartError: It cannot be read, or is another file than the pinned one.
    """
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
    output.mkdir(parents=True, exist_ok=True)
    replace(archive, content=content)
    report(f"{archive}: from {place}, {len(content) / 1e6:.1f} MB")
