"""What tests of the app share: the repository, configurations, synthesized deployments."""

import functools
import gc
import hashlib
import os
import re
import signal
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import botocore.session
import hypothesis
import pytest
import typer.main
from aws_cdk.assertions import Template
from filelock import FileLock
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from tests.support.assembly import Assembly, synthesized
from tests.support.collection import READS
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, STAND_IN_CHART
from tests.support.configs import configure as configure_default
from tests.support.heartbeat import Heartbeat

# Tests that several files share are there.
pytest.register_assert_rewrite("tests.support.scenario_tests")

Configure = Callable[[Mapping[str, Any]], Config]
Assemble = Callable[[Config], Assembly]
Synthesize = Callable[[Config], dict[str, Template]]
Raises = Callable[[type[Exception]], AbstractContextManager[pytest.ExceptionInfo[Exception]]]

WHOLE = [
    REPOSITORY / "tests" / folder
    for folder in (
        "prometheus",
        "rehearsal/cli",
        "rehearsal/examples",
        "rehearsal/pipeline",
        "rehearsal/scenarios",
        "slurm",
    )
]
"""Each file below starts a deployment, Slurm or Prometheus, so `make test-all` alone runs it."""
# What a test counts when the files are put in order: one marked `slow` without its seconds, and
# one that is not marked.
_SLOW_SECONDS = 2.0
_SECONDS = 0.05
# Seconds in a message differ from run to run.
_MEASURED = re.compile(r"(?<=for )\d+(?= s\b)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run have a part of what is whole."""
    parser.addoption("--part", help="1/5 to 5/5: every fifth file of those with whole tests")


def pytest_configure(config: pytest.Config) -> None:
    """Let no test depend on the shell of the caller of pytest.

    That is, first, on the signals that it ignores or blocks.

    Child processes inherit both, and tests end their children with SIGTERM. An ignored SIGINT
    stays: it is how a shell without job control starts a command in the background.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Nor on an AWS account, or a rehearsal that is kept, in whose shell pytest was called.
    for name in [*os.environ]:
        if name == "KUBECONFIG" or name.startswith(("AWS_", "REHEARSAL_")):
            del os.environ[name]
    # Syrupy fails the listing of tests otherwise: it finds that no snapshot is used.
    config.option.warn_unused_snapshots |= config.option.collectonly
    # A tenth of the time went into looking for garbage among what lives until the end.
    gc.set_threshold(100_000, 50, 50)
    # Each session of the SDK would read the models of its services anew.
    botocore.session.create_loader = functools.cache(botocore.session.create_loader)
    # And each call of the command line would make all of its commands anew.
    typer.main.get_command = functools.cache(typer.main.get_command)
    # Examples are the same in each run, and none is too slow, however busy the machine is.
    hypothesis.settings.load_profile("ci")
    READS.begin()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the process that starts workers, and it alone has a terminal, say that they work."""
    plugins = session.config.pluginmanager
    reporter = plugins.get_plugin("terminalreporter")
    if reporter is not None and session.config.getoption("dist", "no") != "no":
        heartbeat = Heartbeat(reporter.write_line)
        plugins.register(heartbeat)
        heartbeat.begin()


def pytest_collection_finish() -> None:
    """Look for no garbage among what the collection has made."""
    READS.end()
    gc.freeze()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the workers of `-n auto`: more than cores, since tests wait for other processes.

    Whole deployments wait longer, and each worker takes seconds to begin.
    """
    cores = os.cpu_count() or 1
    return cores + 1 if config.option.markexpr == "not whole" else cores * 2


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Mark what is whole by its place, and start with the files that take longest.

    All workers then end at about the same time, and each part takes about as long as the others.
    What other parts have is left out last: Syrupy takes the snapshots of a test that it has not
    seen for unused, and fails the run.
    """
    seconds: defaultdict[Path, float] = defaultdict(float)
    is_whole = functools.cache(lambda path: any(folder in path.parents for folder in WHOLE))
    for item in items:
        if is_whole(item.path) or _synthesizes_an_example(item):
            item.add_marker("whole")
        mark = item.get_closest_marker("slow")
        own = _SECONDS if mark is None else mark.kwargs.get("seconds", _SLOW_SECONDS)
        seconds[item.path] += own
    items.sort(key=lambda item: -seconds[item.path])
    yield
    if config.option.part:
        whole = dict.fromkeys(item.path for item in items if item.get_closest_marker("whole"))
        own = part_of([*whole], config.option.part)
        left = [item for item in items if item.get_closest_marker("whole") and item.path not in own]
        config.hook.pytest_deselected(items=left)
        out = set(left)
        items[:] = [item for item in items if item not in out]


def part_of(files: Sequence[Path], part: str) -> set[Path]:
    """Return the files of a part, such as the first fifth: 1/5."""
    number, parts = map(int, part.split("/"))
    return {*files[number - 1 :: parts]}


def _synthesizes_an_example(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function) or "chart" not in item.fixturenames:
        return False
    given = getattr(item, "callspec", None)
    return given is not None and any(
        isinstance(value, Path) and value.parent == CONFIG_FOLDER / "examples"
        for value in given.params.values()
    )


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the repository's root."""
    return REPOSITORY


@pytest.fixture(scope="session")
def default_config(repository: Path) -> Config:
    """Return the default configuration."""
    return load_config(repository / "config" / "default.yaml")


@pytest.fixture(scope="session")
def configure() -> Configure:
    """Return a function from changes of the default configuration to a configuration."""
    return configure_default


@pytest.fixture(scope="session")
def chart(repository: Path) -> Path:
    """Return a chart in place of the official one, which is not part of the repository."""
    return STAND_IN_CHART if STAND_IN_CHART.is_dir() else repository / "charts" / "fsx-storage"


@pytest.fixture(scope="session")
def assemble(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> Assemble:
    """Return a function that synthesizes the stacks of a configuration, once for all workers."""
    own = tmp_path_factory.getbasetemp()
    # The workers of pytest-xdist have a folder each, beside each other.
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def assembly(config: Config) -> Assembly:
        digest = hashlib.sha256(config.model_dump_json().encode()).hexdigest()
        directory = shared / "assemblies" / digest
        directory.parent.mkdir(exist_ok=True)
        with FileLock(directory.with_suffix(".lock")):
            if not directory.exists():
                written = Path(tempfile.mkdtemp(dir=directory.parent))
                synthesized(config, chart=chart, directory=written)
                written.rename(directory)
        return Assembly(directory)

    return assembly


@pytest.fixture(scope="session")
def synthesize(assemble: Assemble) -> Synthesize:
    """Return a function from a configuration to the template of each stack."""

    def templates(config: Config) -> dict[str, Template]:
        return {name: Template.from_string(text) for name, text in assemble(config).texts().items()}

    return templates


@pytest.fixture
def raises(snapshot: SnapshotAssertion, tmp_path: Path) -> Raises:
    """Return `pytest.raises` with the error's words in the test's snapshot."""

    @contextmanager
    def reviewed(error: type[Exception]) -> Iterator[pytest.ExceptionInfo[Exception]]:
        with pytest.raises(error) as caught:
            yield caught
        words = str(caught.value).replace(str(tmp_path), "TMP").replace(f"{REPOSITORY}", "PROJECT")
        assert _MEASURED.sub("N", words) == snapshot

    return reviewed
