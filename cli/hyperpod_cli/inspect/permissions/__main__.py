"""`python -m hyperpod_cli.inspect.permissions cdk.out build/deployer-policy --config FILE`."""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from aws_reference.resource_schemas import UnknownTypeError
from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cli.aws.account import AccountError, Environment, profile_session, region_of
from hyperpod_cli.inspect.permissions.documents import POLICIES_OF_A_ROLE, Document, size
from hyperpod_cli.inspect.permissions.policies import Policies, policies_of
from hyperpod_cli.terminal.command_line import config_parser, exit_with, refused
from hyperpod_cli.terminal.errors import REFUSED


def main() -> int:
    """Write the policies; return 0, or 2 when they cannot be known."""
    parser = config_parser("hyperpod_cli.inspect.permissions", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("directory", type=Path, help="where the policies are written")
    parser.add_argument("--account", help="account id; default: that of the credentials")
    parser.add_argument("--document", metavar="NAME", help="print this one alone, as JSON")
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        environment = _environment(config, account=arguments.account)
        policies = policies_of(arguments.assembly, deployment=config.name, environment=environment)
    except (AccountError, ConfigError, UnknownTypeError) as error:
        return refused(error)
    except OSError as error:
        print(f"{error}; run `make synth` first", file=sys.stderr)
        return REFUSED
    documents = dict(_documents(policies))
    if arguments.document is None:
        _write(documents, arguments.directory)
        print(
            "\n".join(
                _told(arguments.config, config.name, policies, environment, arguments.directory)
            )
        )
    elif arguments.document in documents:
        print(json.dumps(documents[arguments.document], indent=2))
    else:
        known = ", ".join(documents)
        print(f"--document: {arguments.document!r} is none of {known}", file=sys.stderr)
        return REFUSED
    return 0


def _environment(config: Config, *, account: str | None) -> Environment:
    session = profile_session()
    region = region_of(config, session=session)
    if account is None:
        try:
            account = session.client("sts", region_name=region).get_caller_identity()["Account"]
        except (BotoCoreError, ClientError) as error:
            raise AccountError(
                f"The account is not known ({error}): name it with ACCOUNT=111122223333."
            ) from error
    partition = session.get_partition_for_region(region)
    return Environment(partition=partition, region=region, account=account)


def _documents(policies: Policies) -> Iterator[tuple[str, Document]]:
    yield "deployer", policies.deployer
    for number, document in enumerate(policies.cloudformation, start=1):
        yield f"cloudformation-{number}", document


def _write(documents: dict[str, Document], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for earlier in directory.glob("*.json"):
        earlier.unlink()
    for name, document in documents.items():
        text = json.dumps(document, indent=2) + "\n"
        (directory / f"{name}.json").write_text(text, encoding="utf-8")


def _told(
    config_path: Path,
    deployment: str,
    policies: Policies,
    environment: Environment,
    directory: Path,
) -> Iterator[str]:
    yield "For the person or pipeline that runs make:"
    yield f"  {directory}/deployer.json ({size(policies.deployer)} characters)"
    roles = ", ".join(policies.execution_roles)
    yield f"For CloudFormation's role {roles}, instead of AdministratorAccess:"
    for number, document in enumerate(policies.cloudformation, start=1):
        yield f"  {directory}/cloudformation-{number}.json ({size(document)} characters)"
    count = len(policies.cloudformation)
    yield f"  {count} of the {POLICIES_OF_A_ROLE} managed policies that a role can have by default"
    yield "Create them, and bootstrap with them:"
    # A name for each content and region, so that an update's policies fit beside the former ones.
    names = {
        name: f"{name}-{environment.region}-{sha256(json.dumps(document).encode()).hexdigest()[:8]}"
        for name, document in _documents(policies)
    }
    for name, _ in _documents(policies):
        yield (
            f"  aws iam create-policy --policy-name {deployment}-{names[name]} "
            f"--policy-document file://{directory}/{name}.json"
        )
    arns = ",".join(
        f"arn:{environment.partition}:iam::{environment.account}:policy/{deployment}-{names[name]}"
        for name, _ in _documents(policies)
        if name != "deployer"
    )
    yield f"  make bootstrap CONFIG={config_path} POLICIES={arns}"


if __name__ == "__main__":
    exit_with(main)
