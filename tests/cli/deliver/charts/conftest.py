"""A packaging run of the real command line against an upstream made on disk."""

import re
from pathlib import Path

import pytest

from tests.support.commands import ran
from tests.support.configs import REPOSITORY
from tests.support.upstream_chart import Command, Outcome, Upstream


def masked(words: str, folder: Path, **commits: str) -> str:
    """Return what is said without what differs from run to run and from machine to machine."""
    for name, commit in commits.items():
        words = words.replace(commit, name.upper())
    words = words.replace(str(folder), "FOLDER").replace(str(REPOSITORY), "PROJECT")
    words = re.sub(r"\S+/charts-\w+(?=/)", "WORKSPACE", words)
    words = re.sub(r"(?<=127.0.0.1:)\d+", "PORT", words.removesuffix("\n"))
    # Git's own words are of its version.
    return re.sub(r": fatal: .*?; ", ": GIT; ", words)


@pytest.fixture(scope="session")
def upstream_template(tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    return Upstream(tmp_path_factory.mktemp("template") / "here")


@pytest.fixture
def upstream(upstream_template: Upstream, tmp_path: Path) -> Upstream:
    return Upstream(tmp_path / "made", template=upstream_template)


@pytest.fixture
def pins(upstream: Upstream, tmp_path: Path) -> Path:
    return upstream.pins(tmp_path / "pins.yaml")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "build" / "charts"


@pytest.fixture
def run(upstream: Upstream, pins: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `package` or `check`; keyword arguments set CHART_ variables for this run only."""

    def command(name: str = "package", *options: str, **variables: str) -> Outcome:
        for variable in ("GIT_URL", "GIT_COMMIT", "ARCHIVES", "DIGESTS"):
            monkeypatch.delenv(f"CHART_{variable}", raising=False)
        monkeypatch.setenv("CHART_ARCHIVES", str(upstream.archives))
        for variable, value in variables.items():
            monkeypatch.setenv(f"CHART_{variable}", value)
        name_of = {"package": "charts", "check": "charts-check"}
        code, out, err = ran(name_of[name], "--pins", pins, "--output", output, *options)
        return Outcome(code=code, output=out, error=err)

    return command


@pytest.fixture
def recorded(run: Command) -> Outcome:
    """The digests are in the pin file and the chart is packaged."""
    outcome = run(DIGESTS="record")
    assert outcome.code == 0, outcome.error
    return outcome
