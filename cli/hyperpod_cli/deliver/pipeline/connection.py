"""Whether the connection to the repository's host works, which only a person can authorize."""

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import AccountError
from hyperpod_shared.aws_errors import is_denied, is_not_found

_WORKS = "AVAILABLE"


def refuse_pending_connection(arn: str, *, session: boto3.Session, region: str) -> None:
    """Refuse a connection that nobody has authorized at the host of the repository.

    Whoever may not read connections passes: the pipeline's source action then says the same.

    Args:
        arn: ARN of the connection.
        session: Who asks.
        region: Region of the pipeline.

    Raises:
        AccountError: There is no such connection, or it does not work yet.
    """
    # As does every SDK, the service takes ARNs of its former name too.
    connections = session.client("codeconnections", region_name=arn.split(":")[3])
    try:
        status = connections.get_connection(ConnectionArn=arn)["Connection"]["ConnectionStatus"]
    except ClientError as error:
        if is_not_found(error):
            raise AccountError(
                f"pipeline.source.connection.arn: {arn} does not exist; make one: aws "
                f"codeconnections create-connection --provider-type GitHub --connection-name "
                f"hyperpod --region {region}"
            ) from None
        if is_denied(error):
            return
        raise AccountError(f"{arn}: {one_line(error)}") from None
    except BotoCoreError as error:
        raise AccountError(f"{arn}: {one_line(error)}") from None
    if status != _WORKS:
        raise AccountError(
            f"pipeline.source.connection.arn: {arn} is {status}; complete it in the console: "
            "Developer Tools, Settings, Connections, Update pending connection"
        )
