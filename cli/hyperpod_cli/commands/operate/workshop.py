"""`hyperpod-cdk cluster-config` and `env`, which the HyperPod workshop takes."""

import os

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile, Region


@command(iam=["cloudformation:DescribeStacks"])
def cluster_config(*, config: ConfigFile, region: Region = None) -> None:
    """Print the CreateCluster request, to send it by hand.

    The command `aws sagemaker create-cluster --cli-input-json file://cluster-config.json` takes it.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.aws.stacks import outputs_of
    from hyperpod_cli.operate import workshop
    from hyperpod_cli.operate.clusters import require_cluster
    from hyperpod_cli.terminal.console import print_json
    from hyperpod_stacks.table import stack_name

    loaded = load_config(config)
    require_cluster(loaded, file=config)
    session = aws_session(region=region, config=loaded)
    cloudformation, outputs = session.client("cloudformation"), dict[str, str]()
    for kind in workshop.stacks_to_read(loaded):
        outputs |= outputs_of(cloudformation, stack_name(loaded, kind))
    print_json(workshop.cluster_config(loaded, outputs=outputs, region=session.region))


@command(iam=["cloudformation:DescribeStacks"])
def env(*, config: ConfigFile, region: Region = None) -> None:
    """Print the exports of the workshop's create_config.sh.

    Use it with eval. A variable that is set in the shell keeps its value.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.aws.stacks import outputs_of
    from hyperpod_cli.operate.workshop import OUTPUTS, exports, variables
    from hyperpod_stacks.table import stack_name

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
