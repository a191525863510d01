"""`hyperpod-cdk critical-path`."""

from contextlib import nullcontext

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Express, Templates


@command()
def critical_path(
    *, config: ConfigFile = DEFAULT_CONFIG, templates: Templates = None, express: Express = False
) -> None:
    """Show the longest chain of resources of a first deployment, with its minutes."""
    from hyperpod_cli.aws.cdk_cli import synthesized
    from hyperpod_cli.inspect.critical_path import lines, read_graph
    from hyperpod_cli.terminal.errors import OpsError

    with nullcontext(templates) if templates else synthesized(config) as folder:
        try:
            graph = read_graph(folder)
        except OSError as error:
            raise OpsError(f"error: {error}; run `make synth` first") from None
    for line in lines(graph, name=str(config), express=express):
        typer.echo(line)
