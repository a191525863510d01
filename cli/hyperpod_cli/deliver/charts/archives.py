"""Charts: their Chart.yaml, and their archives, checked and put into the chart that needs them."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cdk.schema.given_file import given_bytes
from hyperpod_cli.deliver.charts.pins import NOT_RECORDED, Dependency, Pins, first_of
from hyperpod_cli.helm.helm import ChartError, CommandError, Helm
from hyperpod_shared.archives import MOST_PACKAGED_BYTES, Room, chart_members


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, found: Any) -> Any:  # noqa: ANN401 - what comes from YAML
        """Take a key that has no value as one that is not there, as helm does."""
        if not isinstance(found, dict):
            return found
        return {key: value for key, value in found.items() if value is not None}


class Requirement(_Read):
    """One entry of `dependencies` in Chart.yaml.

    It is switched on by its condition, paths of values with commas between them. With a repository
    that is empty or `file://…`, it is in the chart's own folder.
    """

    name: str
    version: str = ""
    repository: str = ""
    alias: str = ""
    condition: str = ""

    @property
    def key(self) -> str:
        """Key of its values in the parent's values."""
        return self.alias or self.name

    @property
    def is_remote(self) -> bool:
        """Whether helm would take it from a chart repository."""
        return "://" in self.repository and not self.repository.startswith("file://")


class ChartFile(_Read):
    """What Chart.yaml says."""

    name: str
    version: str
    app_version: str = Field("", alias="appVersion")
    requirements: list[Requirement] = Field([], alias="dependencies")


def same_version(one: str, other: str) -> bool:
    """Whether two versions are the same; helm takes `v0.5.20` for `0.5.20`."""
    return one.removeprefix("v") == other.removeprefix("v")


def read_chart_directory(folder: Path) -> ChartFile:
    """Read Chart.yaml of a chart directory."""
    return _parse((folder / "Chart.yaml").read_bytes(), where=str(folder / "Chart.yaml"))


def chart_file_of(content: bytes, *, archive: Path) -> ChartFile:
    """Read Chart.yaml of a packaged chart; raise ChartError if any of its files misleads."""
    try:
        members = [*chart_members(content, room=Room())]
    except ValueError as error:
        raise ChartError(f"{archive} {error}; fetch it again") from error
    # Of two of a name, readers take different ones.
    if len({name for name, _ in members}) < len(members):
        raise ChartError(f"{archive} holds two files of one name; fetch it again")
    for name, text in members:
        # Not that of a chart inside it.
        if name.count("/") == 1 and name.endswith("/Chart.yaml"):
            return _parse(text, where=f"{archive}: {name}")
    raise ChartError(f"{archive} is not a packaged chart: it has no Chart.yaml; fetch it again")


def _parse(content: bytes, *, where: str) -> ChartFile:
    try:
        return ChartFile.model_validate(yaml.safe_load(content))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        wrong = first_of(error) if isinstance(error, ValidationError) else one_line(error)
        raise ChartError(f"{where} is not a valid Chart.yaml: {wrong}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """A dependency and its archive on disk."""

    dependency: Dependency
    file: Path
    sha256: str


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def collect_archives(
    dependencies: list[Dependency], *, folder: Path | None, helm: Helm, workspace: Path
) -> list[Archive]:
    """Find each dependency's archive in the folder, or else download it.

    This does not check digests.
    """
    collected = []
    for index, dependency in enumerate(dependencies):
        source = str(folder) if folder else dependency.repository
        typer.echo(f"  {dependency.label} from {source}")
        if folder is not None:
            file = _find(dependency, folder=folder)
        else:
            file = _pull(dependency, helm=helm, into=workspace / "archives" / str(index))
        collected.append(Archive(dependency=dependency, file=file, sha256=sha256_of(file)))
    return collected


def check_digests(archives: list[Archive], *, pin_file: Path) -> None:
    """Compare each archive with its pinned digest."""
    for archive in archives:
        pinned, label = archive.dependency.sha256, archive.dependency.label
        if pinned == NOT_RECORDED:
            raise ChartError(
                f"{label}: {pin_file} has no digest to check it against; inspect the archive "
                f"(sha256 {archive.sha256}), then run `CHART_DIGESTS=record hyperpod-cdk charts` "
                "once to "
                "write it into the pin file"
            )
        if pinned != archive.sha256:
            raise ChartError(
                f"{label}: digest mismatch: {archive.file} has sha256 {archive.sha256}, "
                f"{pin_file} pins {pinned}; the archive was changed: find out why before you "
                "record another digest"
            )


def _find(dependency: Dependency, *, folder: Path) -> Path:
    """Return the archive of this chart in the folder, whatever its file name."""
    found = []
    for file in sorted(folder.glob("*.tgz")):
        try:
            content = given_bytes(file, most_bytes=MOST_PACKAGED_BYTES)
        except OSError as error:
            raise ChartError(f"{file} {error.strerror}; fetch it again") from None
        chart = chart_file_of(content, archive=file)
        if chart.name == dependency.name and same_version(chart.version, dependency.version):
            found.append(file)
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise ChartError(
            f"{dependency.label}: CHART_ARCHIVES={folder} must contain exactly one archive of "
            f"it, found {names}; fetch it from {dependency.repository}"
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


def drop_stale_archives(chart: Path) -> list[str]:
    """Delete archives next to a directory of the same chart; helm would pick either.

    Returns the deleted files, relative to the chart.
    """
    dropped = []
    for charts in sorted(chart.rglob("charts")):
        if not charts.is_dir():
            continue
        directories = set(subcharts(charts.parent))
        for archive in sorted(charts.glob("*.tgz")):
            if chart_file_of(archive.read_bytes(), archive=archive).name in directories:
                archive.unlink()
                dropped.append(str(archive.relative_to(chart)))
    return dropped


def check_requirements(chart: Path, *, pins: Pins) -> None:
    """Compare what the charts require from elsewhere with the pins."""
    pinned = {dependency.name for dependency in pins.dependencies if dependency.parent is None}
    left_out = set(pins.left_out)
    both = sorted(pinned & left_out)
    if both:
        raise ChartError(f"{both[0]} is in both `dependencies` and `left_out` of the pin file")
    for requirement in read_chart_directory(chart).requirements:
        if requirement.is_remote and requirement.name not in pinned | left_out:
            raise ChartError(
                f"the chart requires {requirement.name} {requirement.version} from "
                f"{requirement.repository}, which the pin file does not list: add it to "
                "`dependencies`, or to `left_out` if it is off by default"
            )
    for dependency in pins.dependencies:
        _check_pin(dependency, chart=chart)


def place_archives(chart: Path, *, archives: list[Archive]) -> None:
    """Copy each archive to where helm looks for it."""
    for archive in archives:
        charts = _home(archive.dependency, chart=chart) / "charts"
        charts.mkdir(exist_ok=True)
        shutil.copyfile(archive.file, charts / f"{archive.dependency.name}.tgz")


def leave_out(chart: Path, *, names: list[str]) -> None:
    """Remove requirements from the chart's Chart.yaml; helm refuses one that is not there."""
    file = chart / "Chart.yaml"
    content = yaml.safe_load(file.read_text())
    requirements = content.get("dependencies") or []
    content["dependencies"] = [entry for entry in requirements if entry["name"] not in names]
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    # It would list what was removed.
    (chart / "Chart.lock").unlink(missing_ok=True)


def required_version(dependency: Dependency, *, chart: Path) -> str | None:
    """Return the version of a dependency that the chart, or its parent in it, requires, if any."""
    owner = read_chart_directory(_home(dependency, chart=chart))
    wanted = (entry.version for entry in owner.requirements if entry.name == dependency.name)
    return next(wanted, None)


def subcharts(chart: Path) -> dict[str, Path]:
    """Return the charts that are unpacked inside a chart, by name."""
    folders = sorted(file.parent for file in (chart / "charts").glob("*/Chart.yaml"))
    return {read_chart_directory(folder).name: folder for folder in folders}


def _home(dependency: Dependency, *, chart: Path) -> Path:
    if dependency.parent is None:
        return chart
    found = subcharts(chart)
    if dependency.parent not in found:
        raise ChartError(
            f"{dependency.label}: parent {dependency.parent!r} is not a component of the chart; "
            f"components: {', '.join(sorted(found))}"
        )
    return found[dependency.parent]


def _check_pin(dependency: Dependency, *, chart: Path) -> None:
    owner = read_chart_directory(_home(dependency, chart=chart))
    required = required_version(dependency, chart=chart)
    if required is None:
        raise ChartError(
            f"{dependency.label}: {owner.name} {owner.version} does not require it; remove it from "
            "the pin file"
        )
    if not same_version(required, dependency.version):
        raise ChartError(
            f"{dependency.name}: the pin file has version {dependency.version}, {owner.name} "
            f"requires {required}; pin that version and record its digest"
        )
