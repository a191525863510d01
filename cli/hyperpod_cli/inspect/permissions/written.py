"""Policies as files, and what to do with them."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.account import AccountError, Environment, region_of
from hyperpod_cli.aws.session import profile_session
from hyperpod_cli.inspect.permissions.documents import POLICIES_OF_A_ROLE, Document, size
from hyperpod_cli.inspect.permissions.policies import Policies


def environment_of(config: Config, *, account: str | None) -> Environment:
    """Return where a configuration goes.

    Args:
        config: The configuration.
        account: Account ID. Default: that of the credentials.

    Raises:
        AccountError: Region or account are not known.
    """
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


def documents(policies: Policies) -> Iterator[tuple[str, Document]]:
    """Yield the documents, each with its name."""
    yield "deployer", policies.deployer
    for number, document in enumerate(policies.cloudformation, start=1):
        yield f"cloudformation-{number}", document


def write(documents: dict[str, Document], directory: Path) -> None:
    """Write documents into a folder, in the place of all that are there."""
    directory.mkdir(parents=True, exist_ok=True)
    for earlier in directory.glob("*.json"):
        earlier.unlink()
    for name, document in documents.items():
        text = json.dumps(document, indent=2) + "\n"
        (directory / f"{name}.json").write_text(text, encoding="utf-8")


def next_steps(
    config_path: Path,
    deployment: str,
    policies: Policies,
    environment: Environment,
    directory: Path,
) -> Iterator[str]:
    """Yield what the documents are for, and the commands that use them."""
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
        for name, document in documents(policies)
    }
    for name, _ in documents(policies):
        yield (
            f"  aws iam create-policy --policy-name {deployment}-{names[name]} "
            f"--policy-document file://{directory}/{name}.json"
        )
    arns = ",".join(
        f"arn:{environment.partition}:iam::{environment.account}:policy/{deployment}-{names[name]}"
        for name, _ in documents(policies)
        if name != "deployer"
    )
    yield f"  make bootstrap CONFIG={config_path} POLICIES={arns}"
