"""What is pinned: the pin file, its digests, and the settings of a run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hyperpod_cdk.schema.errors import shown
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.deliver.yaml_text import YamlText
from hyperpod_cli.helm.helm import ChartError
from hyperpod_cli.terminal.atomic_file import replace_file

NOT_RECORDED: Literal["not-recorded"] = "not-recorded"
GIT_COMMIT = r"^[0-9a-f]{40}$"

_Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
_Digest = Annotated[str, Field(pattern=rf"^([0-9a-f]{{64}}|{NOT_RECORDED})$")]
_Version = Annotated[str, Field(pattern=r"^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ChartSource(_Strict):
    """Where the official chart comes from: a full commit id, since a branch or tag would move."""

    git_url: Annotated[str, Field(min_length=1)]
    git_commit: Annotated[str, Field(pattern=GIT_COMMIT)]
    path: str

    @property
    def shown_url(self) -> str:
        """The URL without a user name or token, for messages and provenance."""
        return re.sub(r"(?<=://)[^/@]+@", "", self.git_url)

    @field_validator("path")
    @classmethod
    def _inside_the_repository(cls, path: str) -> str:
        if not path or path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise ValueError("must be a relative path inside the repository")
        return path


class Dependency(_Strict):
    """A chart that the official one takes from elsewhere, or else its component `parent`."""

    name: _Name
    version: _Version
    repository: Annotated[str, Field(pattern=r"^(https?|oci)://\S+$")]
    sha256: _Digest
    parent: _Name | None = None

    @property
    def label(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"


class Pins(_Strict):
    """The pin file: the official chart, what is packaged into it, and what is left out of it.

    The package has a digest too: it is the same bytes wherever it is made.
    """

    chart: ChartSource
    package_sha256: _Digest
    dependencies: list[Dependency]
    left_out: list[_Name]


def load_pins(file: Path) -> Pins:
    """Read and check the pin file."""
    try:
        return Pins.model_validate(read_yaml(file).document)
    except ValidationError as error:
        raise ChartError(f"{file}: {first_of(error)}") from error


def first_of(error: ValidationError) -> str:
    """Return the first that is wrong in a file: its key, its value and what it should be."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "the file"
    return f"{key}: {shown(first['input'])}: {first['msg']}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Inputs of one run: the pins with what overrides them, and a folder of archives, if any.

    The archives' digests are checked, or new ones recorded, or ignored, for a chart that is only
    rendered and thrown away.
    """

    pin_file: Path
    pins: Pins
    archives: Path | None
    digests: Literal["check", "record", "ignore"]


def load_settings(*, pin_file: Path, environment: Mapping[str, str]) -> Settings:
    """Read the pin file and the CHART_ variables; an empty variable counts as unset."""
    pins = load_pins(pin_file)
    digests = environment.get("CHART_DIGESTS", "")
    if digests not in ("", "record"):
        raise ChartError(
            f"CHART_DIGESTS is {digests!r}: only `record` is allowed, or leave it unset"
        )
    folder = environment.get("CHART_ARCHIVES", "")
    if folder and not Path(folder).is_dir():
        raise ChartError(
            f"CHART_ARCHIVES is {folder!r}, which is not a folder: give the folder with the "
            "dependencies' .tgz files, or leave it unset"
        )
    source = _source(pins.chart, environment=environment)
    update: dict[str, object] = {"chart": source}
    if source.git_commit != pins.chart.git_commit:
        update["package_sha256"] = NOT_RECORDED
    return Settings(
        pin_file=pin_file,
        pins=pins.model_copy(update=update),
        archives=Path(folder) if folder else None,
        digests="record" if digests else "check",
    )


def _source(pinned: ChartSource, *, environment: Mapping[str, str]) -> ChartSource:
    url = environment.get("CHART_GIT_URL") or pinned.git_url
    # git runs elsewhere: a relative path would point somewhere else.
    local = str(Path(url).resolve()) if Path(url).exists() else url
    commit = environment.get("CHART_GIT_COMMIT") or pinned.git_commit
    try:
        return ChartSource(git_url=local, git_commit=commit, path=pinned.path)
    except ValidationError as error:
        raise ChartError(
            f"CHART_GIT_COMMIT is {commit!r}: give all 40 hexadecimal digits of a commit; "
            "a branch, a tag or a short id can come to mean something else"
        ) from error


def record_digests(
    file: Path, *, package: str | None, dependencies: Mapping[tuple[str, str | None], str]
) -> list[str]:
    """Put SHA-256 digests into the pin file: the package's, and by name and parent dependencies'.

    Returns a line for each that changed: `name: old -> new`.
    """
    text, changes, pins = YamlText(file.read_text()), [], load_pins(file)
    if package is not None and package != pins.package_sha256:
        changes.append(f"package_sha256: {pins.package_sha256} -> {package}")
        text.set(("package_sha256",), package)
    for index, entry in enumerate(pins.dependencies):
        new = dependencies.get((entry.name, entry.parent), entry.sha256)
        if new != entry.sha256:
            changes.append(f"{entry.name}: {entry.sha256} -> {new}")
            text.set(("dependencies", index, "sha256"), new)
    if changes:
        replace_file(file, text.text)
    return changes
