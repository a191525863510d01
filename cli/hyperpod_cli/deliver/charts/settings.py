"""The inputs of one run: the pin file, overridden by the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.pins import ChartSource, Pins, load_pins


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Inputs of one run.

    Attributes:
        pin_file: The pin file, for messages and for recording.
        pins: What to package, overrides applied.
        archives: Folder with the dependency archives; None: the network.
        digests: `check` the archives' digests against the pins, `record` new ones, or `ignore`
            them, for a chart that is only rendered and thrown away.
    """

    pin_file: Path
    pins: Pins
    archives: Path | None
    digests: Literal["check", "record", "ignore"]


def load_settings(*, pin_file: Path, environment: Mapping[str, str]) -> Settings:
    """Read the pin file and the CHART_ variables; an empty variable counts as unset.

    Raises:
        ChartError: The file or a variable is wrong; one line.
    """
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
    return Settings(
        pin_file=pin_file,
        pins=pins.model_copy(update={"chart": _source(pins.chart, environment=environment)}),
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
