"""The pin file, charts/pins.yaml: the exact inputs of the package."""

import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.deliver.charts.errors import ChartError

NOT_RECORDED: Literal["not-recorded"] = "not-recorded"
GIT_COMMIT = r"^[0-9a-f]{40}$"

_Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
_Version = Annotated[str, Field(pattern=r"^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ChartSource(_Strict):
    """Where the official chart comes from.

    Attributes:
        git_url: URL or local path of a git repository.
        git_commit: Full commit id; a branch or tag would move.
        path: Folder of the chart in the repository.
    """

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
    """A chart that the official one takes from elsewhere.

    Attributes:
        name: Its name, as in Chart.yaml.
        version: Its exact version.
        repository: Chart repository (https or oci URL).
        sha256: Digest of the .tgz, or `not-recorded`.
        parent: Component it belongs to; None for the official chart itself.
    """

    name: _Name
    version: _Version
    repository: Annotated[str, Field(pattern=r"^(https?|oci)://\S+$")]
    sha256: Annotated[str, Field(pattern=rf"^([0-9a-f]{{64}}|{NOT_RECORDED})$")]
    parent: _Name | None = None

    @property
    def label(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"


class Pins(_Strict):
    """Everything in the pin file.

    Attributes:
        chart: The official chart.
        dependencies: Charts packaged into it.
        left_out: Names removed from its Chart.yaml.
    """

    chart: ChartSource
    dependencies: list[Dependency]
    left_out: list[_Name]


def load_pins(file: Path) -> Pins:
    """Read and check the pin file.

    Raises:
        ChartError: Missing, not YAML, or a value that is not allowed; one line.
    """
    try:
        return Pins.model_validate(yaml.safe_load(file.read_text()))
    except FileNotFoundError as error:
        raise ChartError(f"{file} does not exist: restore it from git") from error
    except yaml.YAMLError as error:
        raise ChartError(f"{file} is not YAML: {one_line(error)}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        message = f"{file}: {key}: {first['input']!r}: {first['msg']}"
        raise ChartError(message) from error
