"""`hyperpod-ops list`."""

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, AsJson, ConfigFile, Region


@command(name="list", calls=["sagemaker:ListClusters", "sagemaker:ListTags"])
def list_clusters(
    *, config: ConfigFile = DEFAULT_CONFIG, region: Region = None, as_json: AsJson = False
) -> None:
    """List the HyperPod clusters that CloudFormation stacks made.

    Those in one region: --region, else the configuration's or the environment's.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.operate.clusters import own_clusters
    from hyperpod_cli.terminal.console import shown

    # Elsewhere than in the project there may be no default configuration.
    is_read = region is None and (config != DEFAULT_CONFIG or config.is_file())
    session = aws_session(region=region, config=load_config(config) if is_read else None)
    nothing = "No cluster of a stack that you may look at is in this region."
    shown(own_clusters(session.client("sagemaker")), as_json=as_json, empty=nothing)
