"""What `hyperpod-cdk rehearse` and `rehearse-change` do, each with its exit code."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from aws_reference.resource_schemas import UnknownTypeError
from hyperpod_cdk import load_config, load_file
from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.inspect.archive.archive import read_archive, refuse_other
from hyperpod_cli.inspect.permissions.missing import policy
from hyperpod_cli.terminal.console import VisibleConsole
from hyperpod_cli.terminal.errors import FAILED, INTERRUPTED, LinesError, OpsError
from hyperpod_emulator.aws.local_aws import LocalAwsError
from hyperpod_emulator.signals import raise_on_interrupts
from hyperpod_rehearsal.cdk_cli import CdkError
from hyperpod_rehearsal.change.assembly import given_assembly
from hyperpod_rehearsal.change.rehearsal import ChangeRehearsal
from hyperpod_rehearsal.existing_resources import DEFAULT_REGION, existing_resources
from hyperpod_rehearsal.kept_rehearsal import FAULTS_VARIABLE, cause
from hyperpod_rehearsal.lives.life import Life
from hyperpod_rehearsal.pairs import deploy_rows, rows_line
from hyperpod_rehearsal.pipeline import PipelineRehearsal
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.report import summarize
from hyperpod_rehearsal.run import Rehearsal, play_all
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_rehearsal.stand_in_chart import choose_chart

WORK_DIRECTORY = Path("build/rehearsal")
LOG = "rehearsal.log"
_DEFAULT = "default"
# MiniStack runs the Lambda functions with this machine's own Python, and their layer is for Linux.
_MACHINE = "Linux on x86_64"


class InterruptedRehearsalError(OpsError):
    """Ctrl-C, after all that was started has been stopped."""

    code = INTERRUPTED


def rehearse(
    config_path: Path,
    *,
    scenario: str = _DEFAULT,
    express: bool = False,
    keep: bool = False,
    missing: Sequence[str] = (),
    work_directory: Path = WORK_DIRECTORY,
    console: Console | None = None,
) -> int:
    """Deploy to a local AWS, verify, and delete."""
    known = (_DEFAULT, *SCENARIOS)
    if scenario not in known:
        close = nearest(scenario, known=known) or f"; there are {', '.join(known)}."
        raise OpsError(f"--scenario: there is no scenario {scenario!r}{close} See docs: rehearsal.")
    with _alone_in(work_directory):
        config = load_config(config_path)
        existing_resources(config, missing=missing)
        progress = Progress(console, log=work_directory / LOG)
        report = Rehearsal(
            config=config,
            config_path=config_path,
            chart=choose_chart(config),
            scenario=SCENARIOS.get(scenario),
            work_directory=work_directory.absolute(),
            region=config.region if config.region is not None else DEFAULT_REGION,
            express=express,
            keep=keep,
            missing=missing,
        ).run(progress)
        progress.show(summarize(report, work_directory=work_directory))
    return 0 if report.ok else FAILED


def live(config_path: Path, *, seed: str, steps: int) -> int:
    """Let a deployment go through random steps; return whether all held that must."""
    work_directory = Path("build/rehearsal-life")
    progress = Progress()
    with _alone_in(work_directory):
        report = Life(
            seed=seed,
            steps=steps,
            config_path=config_path,
            work_directory=work_directory.absolute() / "work",
            progress=progress,
        ).run()
    progress.show(f"\n{report}")
    return FAILED if report.violation else 0


def matrix(config_paths: Sequence[Path], *, quarter: int | None) -> int:
    """Play every scenario with every configuration, and deploy a quarter of the rows of pairs.

    Args:
        config_paths: The configurations.
        quarter: Which one, 0 to 3. None for no rows.
    """
    work_directory = Path("build/rehearsal-matrix")
    progress = Progress()
    with _alone_in(work_directory):
        played = play_all(config_paths, work_directory=work_directory.absolute(), progress=progress)
        if quarter is not None:
            progress.show(f"Rows of pairs: --quarter {quarter}")
            rows = deploy_rows(quarter, work_directory=work_directory.absolute(), progress=progress)
            played += rows
    progress.show("\n".join(["", *map(str, played)]))
    if quarter is not None:
        progress.show(f"\n{rows_line(rows)}")
    failed = sum(not outcome.ok for outcome in played)
    progress.show(f"\n{len(played) - failed} of {len(played)} as expected.")
    return FAILED if failed else 0


def pipeline(config_path: Path, *, checks: bool) -> int:
    """Play a pipeline for all its environments, with or without the checks of what is pushed."""
    work_directory = Path("build/rehearsal-pipeline")
    progress = Progress()
    with _alone_in(work_directory):
        loaded = load_file(config_path)
        facts = PipelineRehearsal(
            loaded=loaded,
            config_path=config_path,
            chart=choose_chart(loaded.deployments[0].config),
            work_directory=work_directory.absolute() / "work",
            checks=checks,
            progress=progress,
        ).run()
        report = json.dumps([asdict(check) for check in facts], indent=2)
        (work_directory / "report.json").write_text(report + "\n", encoding="utf-8")
    failed = sum(not check.ok for check in facts)
    progress.show(f"\n{len(facts) - failed} of {len(facts)} as expected.")
    return FAILED if failed else 0


def change(
    config_path: Path,
    *,
    archive: Path,
    policies: Sequence[Path],
    fails: bool,
    assembly: Path | None,
    as_json: bool,
) -> int:
    """Deploy a change on what an archive has, and show what it does."""
    work_directory = Path("build/rehearse-change")
    with _alone_in(work_directory):
        archived = read_archive(archive)
        config = load_config(config_path)
        refuse_other(archived, config=config, path=config_path, source=str(archive))
        prediction = ChangeRehearsal(
            archive=archived,
            config_path=config_path,
            work_directory=work_directory.absolute(),
            # What is asked for is on standard output alone.
            progress=Progress(VisibleConsole(stderr=True, soft_wrap=True)),
            policies=[policy(path) for path in policies],
            fails=fails,
            assembly=None if assembly is None else given_assembly(assembly, config=config),
        ).run()
    if as_json:
        print(json.dumps(prediction.as_json(), indent=2))
    else:
        print("\n".join(prediction.lines()))
    return prediction.code


def fault(name: str, *, group: str, config_path: Path) -> str:
    """Let something fail in a group of the rehearsal that is kept; return what holds now."""
    groups = load_config(config_path).cluster.all_groups
    return cause(
        name,
        group=group,
        groups=[group.name for group in groups],
        checked=[group.name for group in groups if group.deep_health_checks],
        api=os.environ.get(FAULTS_VARIABLE),
    )


@contextmanager
def _alone_in(work_directory: Path) -> Iterator[None]:
    """Hold a folder for one rehearsal; raise OpsError for what a rehearsal ends with.

    Interrupts raise KeyboardInterrupt, whatever the caller's signals are.
    """
    machine = f"{platform.system()} on {platform.machine()}"
    if machine != _MACHINE:
        raise OpsError(
            f"rehearse: needs {_MACHINE}, and this is {machine}; deploying works here too"
        )
    raise_on_interrupts()
    work_directory.mkdir(parents=True, exist_ok=True)
    try:
        with (work_directory / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise OpsError(
            f"{work_directory}: another rehearsal is running in it; wait for its end, or rehearse "
            "in another folder"
        ) from None
    except (CdkError, LocalAwsError, UnknownTypeError) as error:
        raise LinesError(str(error)) from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise OpsError(f"{work_directory}: the disk is full; free some space.") from None
    except KeyboardInterrupt:
        raise InterruptedRehearsalError(
            "Interrupted; everything that was started has been stopped."
        ) from None
