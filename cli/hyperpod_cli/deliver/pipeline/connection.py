"""Whether a pipeline can be created: its account, its regions, its connection."""

from dataclasses import replace
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import ConfigError, load_file
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import AccountError, caller_in
from hyperpod_cli.deliver.can_deploy import refuse_unless_bootstrapped
from hyperpod_shared.aws_errors import is_denied, is_not_found

_WORKS = "AVAILABLE"


def require_creatable(path: Path) -> None:
    """Say as whom and where a pipeline would be created, or refuse it."""
    loaded = load_file(path)
    pipeline = loaded.pipeline
    if pipeline is None:
        raise ConfigError([f"{path}: describes no pipeline; `hyperpod-cdk deploy` deploys it"])
    session = boto3.Session()
    caller = caller_in(pipeline.region, session=session)
    place = caller.environment
    if place.account != pipeline.account:
        raise AccountError(
            f"{path}: pipeline.account: {pipeline.account!r} is not the account of "
            f"your credentials, {place.account}; use others, or correct it"
        )
    for region in loaded.regions:
        refuse_unless_bootstrapped(replace(place, region=region), session=session, config_path=path)
    connection = pipeline.source.connection
    if connection is not None:
        _refuse_pending_connection(connection.arn, session=session, region=pipeline.region)
    print(f"Account {place.account}, region {place.region}, as {caller.arn}", flush=True)


def _refuse_pending_connection(arn: str, *, session: boto3.Session, region: str) -> None:
    """Refuse a connection that no one has authorized at the host of the repository.

    A caller who may not read connections passes: the pipeline's source action then says the same.
    """
    # As does every SDK, the service takes ARNs of its former name too.
    connections = session.client("codeconnections", region_name=arn.split(":")[3])
    try:
        status = connections.get_connection(ConnectionArn=arn)["Connection"]["ConnectionStatus"]
    except (BotoCoreError, ClientError) as error:
        if is_not_found(error):
            raise AccountError(
                f"pipeline.source.connection.arn: {arn} does not exist; make one: aws "
                f"codeconnections create-connection --provider-type GitHub --connection-name "
                f"hyperpod --region {region}"
            ) from None
        if is_denied(error):
            return
        raise AccountError(f"{arn}: {one_line(error)}") from None
    if status != _WORKS:
        raise AccountError(
            f"pipeline.source.connection.arn: {arn} is {status}; complete it in the console: "
            "Developer Tools, Settings, Connections, Update pending connection"
        )
