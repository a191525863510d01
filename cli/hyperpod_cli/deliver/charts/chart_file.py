"""Reading Chart.yaml of a chart directory or archive."""

import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.deliver.charts.commands import ChartError


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One entry of `dependencies` in Chart.yaml.

    Attributes:
        name: Chart it names.
        version: Version it asks for.
        repository: Where from; `file://…` or empty: from the chart's own folder.
        alias: Key of its values, when other than the name.
        condition: Comma-separated paths of values that switch it on.
    """

    name: str
    version: str
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartFile:
    """What Chart.yaml says."""

    name: str
    version: str
    app_version: str = ""
    requirements: list[Requirement] = field(default_factory=list)


def same_version(one: str, other: str) -> bool:
    """Whether two versions are the same; helm takes `v0.5.20` for `0.5.20`."""
    return one.removeprefix("v") == other.removeprefix("v")


def read_chart_directory(folder: Path) -> ChartFile:
    """Read Chart.yaml of a chart directory."""
    return _parse((folder / "Chart.yaml").read_text(), where=str(folder / "Chart.yaml"))


def read_chart_archive(archive: Path) -> ChartFile:
    """Read Chart.yaml of a packaged chart.

    Raises:
        ChartError: Not a packaged chart.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                stream = tar.extractfile(member) if _is_chart_file(member.name) else None
                if stream is not None:
                    return _parse(stream.read().decode(), where=f"{archive}: {member.name}")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ChartError(f"{archive} is not a packaged chart: {error}; fetch it again") from error
    raise ChartError(f"{archive} is not a packaged chart: it has no Chart.yaml; fetch it again")


def _is_chart_file(name: str) -> bool:
    """Whether this is the chart's own Chart.yaml, not one of a chart inside it."""
    return name.count("/") == 1 and name.endswith("/Chart.yaml")


def _parse(text: str, *, where: str) -> ChartFile:
    try:
        content: dict[str, Any] = yaml.safe_load(text)
        return ChartFile(
            name=content["name"],
            version=str(content["version"]),
            app_version=str(content.get("appVersion", "")),
            requirements=[_requirement(entry) for entry in content.get("dependencies") or []],
        )
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise ChartError(f"{where} is not a valid Chart.yaml: {error!r}") from error


def _requirement(entry: dict[str, Any]) -> Requirement:
    return Requirement(
        name=entry["name"],
        version=str(entry.get("version", "")),
        repository=entry.get("repository", ""),
        alias=entry.get("alias", ""),
        condition=entry.get("condition", ""),
    )
