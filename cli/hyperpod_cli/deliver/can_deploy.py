"""Whether the account and region of a configuration can be deployed to.

`deploy`, `destroy` and others ask first: the CDK CLI reports missing credentials
only after the synthesis, and a missing bootstrap only after it has read every asset.
"""

import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, ConfigError, load_config, load_file
from hyperpod_cdk.schema.errors import Severity, one_line
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.aws.account import AccountError, Caller, Environment, caller_of
from hyperpod_cli.deliver.shell_findings import shell_findings
from hyperpod_cli.inspect.preflight.run import TO_PERMIT, VALIDATORS, command_in, results
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.bootstrap import bootstrap_finding
from hyperpod_cli.inspect.registered import concerning
from hyperpod_shared.aws_errors import is_denied

# Of this machine, which the chart is packaged on next.
_LOCAL = "client-tools"


def refuse_unless_bootstrapped(
    environment: Environment, *, session: boto3.Session, config_path: Path
) -> None:
    """Refuse an account and region in which `cdk bootstrap` has never run.

    Who may not read the parameter passes: the CDK CLI reads it with a role of the bootstrap.
    """
    parameters = session.client("ssm", region_name=environment.region)
    try:
        finding = bootstrap_finding(parameters, where=str(environment))
    except (BotoCoreError, ClientError) as error:
        if is_denied(error):
            return
        raise AccountError(f"{environment}: {one_line(error)}") from None
    if finding is not None:
        raise AccountError(f"{config_path}: {finding}")


def refuse_problems(
    config: Config, *, environment: Environment, session: boto3.Session, config_path: Path
) -> list[str]:
    """Refuse what a deployment would fail at; return a line for each thing that is only told."""
    # The stubs know each service by a literal.
    clients: Any = session.client
    target = Target(
        **asdict(environment),
        client=cache(lambda name, region=environment.region: clients(name, region_name=region)),
    )
    file = read_yaml(config_path)
    refused: list[str] = []
    failures: list[str] = []
    told: list[str] = []
    own = concerning(VALIDATORS, config)
    validators = {name: each for name, each in own.items() if name != _LOCAL}
    for result in results(config, target, validators=validators):
        for finding, command in result.problems:
            found = file.line(finding) if finding.path else f"{file.path}: {finding}"
            line = f"{found}; look with: {command_in(command, target)}"
            (refused if finding.severity is Severity.ERROR else told).append(line)
        if result.failure is not None:
            failures.append(f"{environment}: {result.name}: {result.failure}")
        if result.missing_permission is not None:
            told.append(
                f"{result.name}: is not looked at: you may not use {result.missing_permission}; "
                f"{TO_PERMIT}"
            )
    if refused or failures:
        raise ConfigError([*refused, *failures])
    return told


def require_bootstrapped(config_path: Path) -> Caller:
    """Return who would work on a configuration's stacks, in an environment that is bootstrapped."""
    session = boto3.Session()
    caller, _ = _caller(config_path, session=session)
    refuse_unless_bootstrapped(caller.environment, session=session, config_path=config_path)
    return _announced(caller)


def require_deployable(config_path: Path) -> Caller:
    """Return who would deploy a configuration, in which nothing is that AWS would refuse."""
    session = boto3.Session()
    caller, config = _caller(config_path, session=session)
    told = refuse_problems(
        config, environment=caller.environment, session=session, config_path=config_path
    )
    for line in (*told, *shell_findings(config)):
        print(f"WARNING {line}", file=sys.stderr)
    return _announced(caller)


def places_to_bootstrap(config_path: Path) -> list[str]:
    """Return the environments of a configuration as `cdk bootstrap` takes them."""
    loaded = load_file(config_path)
    if loaded.pipeline is not None:
        # It has a bucket in the region of each environment.
        return [f"aws://{loaded.pipeline.account}/{region}" for region in loaded.regions]
    caller = caller_of(load_config(config_path), session=boto3.Session())
    return [f"aws://{caller.environment}"]


def _caller(config_path: Path, *, session: boto3.Session) -> tuple[Caller, Config]:
    caller = caller_of(load_config(config_path), session=session)
    # Zones and ARNs of another region, where the environment says which one it is.
    return caller, load_config(config_path, region=caller.environment.region)


def _announced(caller: Caller) -> Caller:
    place = caller.environment
    print(f"Account {place.account}, region {place.region}, as {caller.arn}", flush=True)
    return caller
