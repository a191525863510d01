"""`python -m hyperpod_cli.deliver.pipeline check|review`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from hyperpod_cdk import ConfigError, load_file
from hyperpod_cli.aws.account import AccountError, caller_in, profile_session
from hyperpod_cli.deliver.can_deploy import refuse_unless_bootstrapped
from hyperpod_cli.deliver.pipeline.cdk_diff import DiffError
from hyperpod_cli.deliver.pipeline.connection import refuse_pending_connection
from hyperpod_cli.deliver.pipeline.deployed import UnreadableError
from hyperpod_cli.deliver.pipeline.review import RefusedError, review, write_review
from hyperpod_cli.terminal.command_line import exit_with, refused

_FAILED = 1


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 2 for what is refused, 1 when the CDK CLI fails."""
    parser = argparse.ArgumentParser(
        prog="python -m hyperpod_cli.deliver.pipeline", description=__doc__
    )
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="whether the pipeline can be created")
    check.add_argument("--config", type=Path, required=True)
    reviewer = commands.add_parser("review", help="compare an environment with what is deployed")
    reviewer.add_argument("--config", type=Path, required=True)
    reviewer.add_argument("--environment", required=True)
    reviewer.add_argument("assembly", type=Path)
    reviewer.add_argument("output", type=Path)
    arguments = parser.parse_args(argv)
    try:
        return _check(arguments) if arguments.command == "check" else _review(arguments)
    except DiffError as error:
        print(error, file=sys.stderr)
        return _FAILED
    except (AccountError, ConfigError, RefusedError, UnreadableError) as error:
        return refused(error)


def _check(arguments: argparse.Namespace) -> int:
    loaded = load_file(arguments.config)
    pipeline = loaded.pipeline
    if pipeline is None:
        raise ConfigError([f"{arguments.config}: describes no pipeline; `make deploy` deploys it"])
    session = profile_session()
    caller = caller_in(pipeline.region, session=session)
    place = caller.environment
    if place.account != pipeline.account:
        raise AccountError(
            f"{arguments.config}: pipeline.account: {pipeline.account!r} is not the account of "
            f"your credentials, {place.account}; use others, or correct it"
        )
    for region in loaded.regions:
        refuse_unless_bootstrapped(
            replace(place, region=region), session=session, config_path=arguments.config
        )
    connection = pipeline.source.connection
    if connection is not None:
        refuse_pending_connection(connection.arn, session=session, region=pipeline.region)
    print(f"Account {place.account}, region {place.region}, as {caller.arn}")
    return 0


def _review(arguments: argparse.Namespace) -> int:
    judged, differences = review(
        load_file(arguments.config),
        environment=arguments.environment,
        assembly=arguments.assembly,
        session=profile_session(),
    )
    write_review(judged, differences=differences, folder=arguments.output)
    print(differences)
    print(judged)
    return 0


if __name__ == "__main__":
    exit_with(main)
