"""Says in one line whether the account and region of a deployment can be deployed to.

`make deploy`, `make bootstrap` and others run it first: the CDK CLI reports missing credentials
only after the synthesis, and a missing bootstrap only after it has read every asset.
"""

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, ConfigError, load_config, load_file
from hyperpod_cdk.schema.errors import Severity, one_line
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.aws.account import AccountError, Environment, caller_of, profile_session
from hyperpod_cli.inspect.preflight.bootstrap import bootstrap_finding
from hyperpod_cli.inspect.preflight.report import TO_PERMIT
from hyperpod_cli.inspect.preflight.run import command_in, outcomes
from hyperpod_cli.inspect.preflight.validator import Place
from hyperpod_cli.inspect.preflight.validators import VALIDATORS
from hyperpod_cli.terminal.command_line import config_parser, exit_with, refused
from hyperpod_shared.aws_errors import is_denied

# `make` has them, and packages the chart.
_LOCAL = "client-tools"


def refuse_unless_bootstrapped(
    environment: Environment, *, session: boto3.Session, config_path: Path
) -> None:
    """Refuse an account and region in which `cdk bootstrap` has never run.

    Whoever may not read the parameter passes: the CDK CLI reads it with a role of the bootstrap.

    Raises:
        AccountError: There is no bootstrap stack.
    """
    parameters = session.client("ssm", region_name=environment.region)
    try:
        finding = bootstrap_finding(parameters, where=str(environment))
    except ClientError as error:
        if is_denied(error):
            return
        raise AccountError(f"{environment}: {one_line(error)}") from None
    except BotoCoreError as error:
        raise AccountError(f"{environment}: {one_line(error)}") from None
    if finding is not None:
        raise AccountError(f"{config_path}: {finding}")


def refuse_problems(
    config: Config, *, environment: Environment, session: boto3.Session, config_path: Path
) -> list[str]:
    """Refuse what a deployment would fail at; return a line for each thing that is only told.

    Raises:
        AccountError: AWS could not be asked.
        ConfigError: A deployment would fail.
    """
    # The stubs know each service by a literal.
    clients: Any = session.client
    place = Place(**asdict(environment), client=partial(clients, region_name=environment.region))
    file = read_yaml(config_path)
    refused: list[str] = []
    failures: list[str] = []
    told: list[str] = []
    validators = {name: each for name, each in VALIDATORS.items() if name != _LOCAL}
    for outcome in outcomes(config, place, validators=validators):
        for problem in outcome.problems:
            finding = problem.finding
            found = file.line(finding) if finding.path else f"{file.path}: {finding}"
            line = f"{found}; look with: {command_in(problem, place)}"
            (refused if finding.severity is Severity.ERROR else told).append(line)
        if outcome.failure is not None:
            failures.append(f"{environment}: {outcome.name}: {outcome.failure}")
        if outcome.missing_permission is not None:
            told.append(
                f"{outcome.name}: is not looked at: you may not use {outcome.missing_permission}; "
                f"{TO_PERMIT}"
            )
    if refused:
        raise ConfigError([*refused, *failures])
    if failures:
        raise AccountError("\n".join(failures))
    return told


def main() -> int:
    """Run the command line; return 2 when nothing can be deployed."""
    parser = config_parser("hyperpod_cli.deliver.can_deploy", description=__doc__)
    parser.add_argument(
        "--for-bootstrap",
        action="store_true",
        help="print the environment as `cdk bootstrap` takes it, bootstrapped or not",
    )
    parser.add_argument(
        "--for-deployment",
        action="store_true",
        help="refuse what AWS would refuse in the middle of a deployment, too",
    )
    arguments = parser.parse_args()
    try:
        loaded = load_file(arguments.config)
        if arguments.for_bootstrap and loaded.pipeline is not None:
            # It has a bucket in the region of each environment.
            print(*(f"aws://{loaded.pipeline.account}/{region}" for region in loaded.regions))
            return 0
        config = load_config(arguments.config)
        session = profile_session()
        caller = caller_of(config, session=session)
        environment = caller.environment
        if arguments.for_bootstrap:
            print(f"aws://{environment}")
            return 0
        # Zones and ARNs of another region, where the environment says which one it is.
        config = load_config(arguments.config, region=environment.region)
        if not arguments.for_deployment:
            refuse_unless_bootstrapped(environment, session=session, config_path=arguments.config)
        else:
            for line in refuse_problems(
                config, environment=environment, session=session, config_path=arguments.config
            ):
                print(f"WARNING {line}", file=sys.stderr)
    except (AccountError, ConfigError) as error:
        return refused(error)
    print(f"Account {environment.account}, region {environment.region}, as {caller.arn}")
    return 0


if __name__ == "__main__":
    exit_with(main)
