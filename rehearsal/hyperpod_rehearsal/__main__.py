"""`python -m hyperpod_rehearsal run`: rehearse a deployment on this machine."""

import argparse
import errno
import fcntl
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from aws_reference.resource_schemas import UnknownTypeError
from hyperpod_cdk import ConfigError, load_config, load_file
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.inspect.archive.archive import read_archive, refuse_other
from hyperpod_cli.terminal.configuration import DEFAULT_CONFIG
from hyperpod_cli.terminal.console import VisibleConsole
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.output import protect
from hyperpod_emulator.aws.local_aws import LocalAwsError
from hyperpod_emulator.signals import raise_on_interrupts
from hyperpod_rehearsal.cdk_cli import CdkError
from hyperpod_rehearsal.change.assembly import given_assembly
from hyperpod_rehearsal.change.permissions import policy
from hyperpod_rehearsal.change.rehearsal import ChangeRehearsal
from hyperpod_rehearsal.existing_resources import DEFAULT_REGION
from hyperpod_rehearsal.pipeline import PipelineRehearsal
from hyperpod_rehearsal.progress import Progress, recording_console, write_picture
from hyperpod_rehearsal.report import summarize
from hyperpod_rehearsal.run import Rehearsal, play_all
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_rehearsal.stand_in_chart import choose_chart

_WORK_DIRECTORY = Path("build/rehearsal")
_MATRIX_DIRECTORY = Path("build/rehearsal-matrix")
_PIPELINE_DIRECTORY = Path("build/rehearsal-pipeline")
_CHANGE_DIRECTORY = Path("build/rehearse-change")
_FAILED = 1


def main() -> int:
    """Run the command line; return 0, 1 for a failed rehearsal, 2 for input that cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m hyperpod_rehearsal")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="deploy everything locally, verify it, take it down")
    run.add_argument("--config", type=Path, default=DEFAULT_CONFIG)
    run.add_argument(
        "--scenario",
        default="default",
        metavar="NAME",
        help="what goes wrong or changes: " + ", ".join(SCENARIOS),
    )
    run.add_argument("--work-directory", type=Path, default=_WORK_DIRECTORY, metavar="DIRECTORY")
    run.add_argument(
        "--express", action="store_true", help="deploy in CloudFormation's express mode"
    )
    run.add_argument("--keep", action="store_true", help="leave everything up until Ctrl-C")
    run.add_argument("--picture", type=Path, metavar="SVG", help="draw what is printed, too")
    matrix = commands.add_parser("matrix", help="play every scenario with every configuration")
    matrix.add_argument("configs", type=Path, nargs="+", metavar="CONFIG")
    matrix.add_argument("--work-directory", type=Path, default=_MATRIX_DIRECTORY)
    pipeline = commands.add_parser("pipeline", help="play a pipeline for all its environments")
    pipeline.add_argument("--config", type=Path, default=Path("config/pipeline/pipeline.yaml"))
    pipeline.add_argument("--work-directory", type=Path, default=_PIPELINE_DIRECTORY)
    pipeline.add_argument(
        "--without-checks",
        action="store_true",
        help="leave out the checks of what is pushed, and the set-up of tools for them",
    )
    change = commands.add_parser("change", help="deploy a change on what an archive has")
    change.add_argument("--config", type=Path, default=DEFAULT_CONFIG)
    change.add_argument("--archive", type=Path, required=True, metavar="FILE")
    change.add_argument("--policy", type=Path, action="append", default=[], metavar="FILE")
    change.add_argument("--without-failure", action="store_true", help="rehearse no failure")
    change.add_argument("--assembly", type=Path, metavar="FOLDER", help="what was synthesized")
    change.add_argument("--json", action="store_true", help="write JSON")
    change.add_argument("--work-directory", type=Path, default=_CHANGE_DIRECTORY)
    arguments = parser.parse_args()
    played = {"run": _run, "matrix": _matrix, "pipeline": _pipeline, "change": _change}
    play = played[arguments.command]

    raise_on_interrupts()
    protect()
    try:
        with _alone_in(arguments.work_directory):
            return play(arguments)
    except (
        CdkError,
        ConfigError,
        HyperPodChartError,
        LocalAwsError,
        OpsError,
        UnknownTypeError,
    ) as error:
        print(error, file=sys.stderr)
        return REFUSED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(f"{arguments.work_directory}: the disk is full; free some space.", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("\nInterrupted; everything that was started has been stopped.", file=sys.stderr)
        return INTERRUPTED


@contextmanager
def _alone_in(work_directory: Path) -> Iterator[None]:
    """Hold a folder for one rehearsal; raise OpsError if another one has it."""
    work_directory.mkdir(parents=True, exist_ok=True)
    with (work_directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OpsError(
                f"{work_directory}: another rehearsal is running in it; wait for its end, or name "
                "another folder: python -m hyperpod_rehearsal run --work-directory DIRECTORY"
            ) from None
        yield


def _run(arguments: argparse.Namespace) -> int:
    scenario = arguments.scenario
    known = ("default", *SCENARIOS)
    if scenario not in known:
        close = nearest(scenario, known=known) or f"; there are {', '.join(known)}."
        raise OpsError(
            f"--scenario: there is no scenario {scenario!r}{close} See docs/rehearsal.md."
        )
    recorded = recording_console() if arguments.picture is not None else None
    progress = Progress(recorded)
    config = load_config(arguments.config)
    rehearsal = Rehearsal(
        config=config,
        config_path=arguments.config,
        chart=choose_chart(config),
        scenario=SCENARIOS.get(scenario),
        work_directory=arguments.work_directory.absolute(),
        region=config.region if config.region is not None else DEFAULT_REGION,
        express=arguments.express,
        keep=arguments.keep,
    )
    report = rehearsal.run(progress)
    report_path = arguments.work_directory / "report.json"
    progress.show(summarize(report, report_path=report_path, kept=arguments.keep))
    if recorded is not None:
        write_picture(recorded, arguments.picture, title="make rehearse")
    return 0 if report.ok else _FAILED


def _matrix(arguments: argparse.Namespace) -> int:
    progress = Progress()
    played = play_all(
        arguments.configs,
        work_directory=arguments.work_directory.absolute(),
        progress=progress,
    )
    progress.show("\n".join(["", *map(str, played)]))
    failed = sum(not each.ok for each in played)
    progress.show(f"\n{len(played) - failed} of {len(played)} as expected.")
    return _FAILED if failed else 0


def _pipeline(arguments: argparse.Namespace) -> int:
    progress = Progress()
    loaded = load_file(arguments.config)
    checks = PipelineRehearsal(
        loaded=loaded,
        config_path=arguments.config,
        chart=choose_chart(loaded.deployments[0].config),
        work_directory=arguments.work_directory.absolute() / "work",
        checks=not arguments.without_checks,
        progress=progress,
    ).run()
    report = json.dumps([asdict(check) for check in checks], indent=2)
    (arguments.work_directory / "report.json").write_text(report + "\n", encoding="utf-8")
    failed = sum(not check.ok for check in checks)
    progress.show(f"\n{len(checks) - failed} of {len(checks)} as expected.")
    return _FAILED if failed else 0


def _change(arguments: argparse.Namespace) -> int:
    archive = read_archive(arguments.archive)
    config = load_config(arguments.config)
    refuse_other(archive, config=config, path=arguments.config, source=str(arguments.archive))
    prediction = ChangeRehearsal(
        archive=archive,
        config_path=arguments.config,
        work_directory=arguments.work_directory.absolute(),
        # What is asked for is on standard output alone.
        progress=Progress(VisibleConsole(stderr=True, soft_wrap=True)),
        policies=[policy(path) for path in arguments.policy],
        fails=not arguments.without_failure,
        assembly=given_assembly(arguments.assembly, config=config) if arguments.assembly else None,
    ).run()
    if arguments.json:
        print(json.dumps(prediction.as_json(), indent=2))
    else:
        print("\n".join(prediction.lines()))
    return prediction.code


if __name__ == "__main__":
    sys.exit(main())
