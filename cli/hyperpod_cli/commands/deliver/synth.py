"""`hyperpod-cdk synth`."""

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command()
def synth(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Write the CloudFormation templates.

    Into a folder of cdk.out with the configuration's name.
    """
    from hyperpod_cli.aws.cdk_cli import cdk, templates_folder

    code = cdk("synth", "--quiet", config=config)
    if code == 0:
        for path in sorted(templates_folder(config).glob("*.template.json")):
            typer.echo(path)
    return code
