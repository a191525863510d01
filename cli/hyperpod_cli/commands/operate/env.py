"""`hyperpod-ops env`."""

import os

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Region


@command(calls=["cloudformation:DescribeStacks"])
def env(*, config: ConfigFile = DEFAULT_CONFIG, region: Region = None) -> None:
    """Print the exports of the workshop's create_config.sh.

    Use it with eval. A variable that is set in the shell keeps its value.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cdk.stacks.table import stack_name
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.aws.stacks import outputs_of
    from hyperpod_cli.operate.workshop import OUTPUTS, exports, variables

    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    is_given = all(os.environ.get(name) for name in OUTPUTS)
    outputs = (
        {}
        if is_given
        else outputs_of(session.client("cloudformation"), stack_name(loaded, "platform"))
    )
    found = variables(loaded, outputs=outputs, region=session.region, shell=os.environ)
    typer.echo("\n".join(exports(found)))
