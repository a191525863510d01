"""Writes the package where the deployment expects it, completely or not at all."""

import json
import tempfile
from pathlib import Path

from hyperpod_cli.deliver.charts.archives import sha256_of
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
