"""Verifies a deployment once, with the credentials of AWS alone."""

from collections.abc import Iterator
from contextlib import ExitStack

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.stacks.table import STACKS, stack_names
from hyperpod_cli.aws.kubernetes_api.connection import kubernetes_api, unreached
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stack_outputs import outputs_of
from hyperpod_cli.inspect.verification.check import Check, Deployment
from hyperpod_cli.inspect.verification.verify import verify
from hyperpod_cli.terminal.errors import OpsError


def look(config: Config, *, session: AwsSession) -> Iterator[Check]:
    """Yield every check of a deployment as it is done.

    Args:
        config: What was deployed.
        session: The account and the region.

    Raises:
        OpsError: A stack is not deployed.
        ClientError: AWS refused to describe the stacks.
        BotoCoreError: AWS could not be asked.
    """
    cloudformation = session.client("cloudformation")
    outputs = {
        name: outputs_of(cloudformation, name)
        for kind, name in stack_names(config).items()
        if STACKS[kind].has_outputs
    }
    with ExitStack() as stack:
        # A new client for each look: its token is valid for 15 minutes.
        try:
            kubernetes = stack.enter_context(
                kubernetes_api(session, eks_cluster=config.eks_cluster_name)
            )
        except (BotoCoreError, ClientError, OpsError) as error:
            kubernetes = unreached(error)
        yield from verify(
            Deployment(config=config, client=session.client, kubernetes=kubernetes, outputs=outputs)
        )
