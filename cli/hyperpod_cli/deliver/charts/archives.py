"""The dependencies' archives: from a folder or a chart repository, checked by digest."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.deliver.charts.chart_file import read_chart_archive, same_version
from hyperpod_cli.deliver.charts.commands import CommandError
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.helm import Helm
from hyperpod_cli.deliver.charts.pins import NOT_RECORDED, Dependency


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """A dependency and its archive on disk.

    Attributes:
        dependency: The dependency as pinned.
        file: The .tgz.
        sha256: Digest of the file.
    """

    dependency: Dependency
    file: Path
    sha256: str


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def collect_archives(
    dependencies: list[Dependency],
    *,
    folder: Path | None,
    helm: Helm,
    workspace: Path,
    report: Callable[[str], None],
) -> list[Archive]:
    """Find or download each dependency's archive; this does not check digests.

    Args:
        dependencies: What is wanted.
        folder: Folder to take them from; None: the network.
        helm: Downloads them.
        workspace: Directory for downloads.
        report: Called with a line of progress each.

    Raises:
        ChartError: One is not to be had.
    """
    collected = []
    for index, dependency in enumerate(dependencies):
        source = str(folder) if folder else dependency.repository
        report(f"  {dependency.label} from {source}")
        if folder is not None:
            file = _find(dependency, folder=folder)
        else:
            file = _pull(dependency, helm=helm, into=workspace / "archives" / str(index))
        collected.append(Archive(dependency=dependency, file=file, sha256=sha256_of(file)))
    return collected


def check_digests(archives: list[Archive], *, pin_file: Path) -> None:
    """Compare each archive with its pinned digest.

    Raises:
        ChartError: A digest differs or was never recorded.
    """
    for archive in archives:
        pinned, label = archive.dependency.sha256, archive.dependency.label
        if pinned == NOT_RECORDED:
            raise ChartError(
                f"{label}: {pin_file} has no digest to check it against; inspect the archive "
                f"(sha256 {archive.sha256}), then run `CHART_DIGESTS=record make charts` once to "
                "write it into the pin file"
            )
        if pinned != archive.sha256:
            raise ChartError(
                f"{label}: digest mismatch: {archive.file} has sha256 {archive.sha256}, {pin_file} "
                f"pins {pinned}; someone changed the archive: find out why before you record "
                "another digest"
            )


def _find(dependency: Dependency, *, folder: Path) -> Path:
    """Return the archive of this chart in the folder, whatever its file name."""
    found = []
    for file in sorted(folder.glob("*.tgz")):
        chart = read_chart_archive(file)
        if chart.name == dependency.name and same_version(chart.version, dependency.version):
            found.append(file)
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise ChartError(
            f"{dependency.label}: CHART_ARCHIVES={folder} must hold exactly one archive of it, "
            f"found {names}; fetch it from {dependency.repository}"
        )
    return found[0]


def _pull(dependency: Dependency, *, helm: Helm, into: Path) -> Path:
    try:
        return helm.pull(
            name=dependency.name,
            version=dependency.version,
            repository=dependency.repository,
            into=into,
        )
    except CommandError as error:
        raise ChartError(
            f"cannot fetch {dependency.label} from {dependency.repository}: {error}; check the "
            "network and the proxy, or put its .tgz into a folder and set CHART_ARCHIVES to it"
        ) from error
