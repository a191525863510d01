"""`hyperpod-ops diagram`."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Templates


@command()
def diagram(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    templates: Templates = None,
    file_format: Annotated[
        Literal["svg", "png", "mermaid"] | None,
        typer.Option("--format", help="Default: that of the file's suffix, else svg."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write. Default: standard output.")
    ] = None,
) -> None:
    """Draw what a configuration deploys.

    From its CloudFormation templates, which it synthesizes.
    """
    from hyperpod_cli.aws.cdk_cli import synthesized
    from hyperpod_cli.inspect.diagram.picture import drawn, pictured
    from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
    from hyperpod_cli.terminal.errors import OpsError

    suffixes = {".svg": "svg", ".png": "png", ".mmd": "mermaid", ".mermaid": "mermaid"}
    suffix = output.suffix.lower() if output else ".svg"
    if file_format is None and suffix not in suffixes:
        raise OpsError(
            f"--output: {str(output)!r} must end with {', '.join(suffixes)}; or give --format"
        )
    chosen = file_format or suffixes[suffix]
    if chosen == "png" and output is None and typer.get_binary_stream("stdout").isatty():
        raise OpsError("--output: a PNG cannot be shown in a terminal; name a file")
    with nullcontext(templates) if templates else synthesized(config) as folder:
        try:
            stacks = pictured(folder)
        except OSError as error:
            raise OpsError(
                f"--templates: {error}; name a folder that `cdk synth` wrote, or leave it out"
            ) from None
    content = drawn(stacks, file_format=chosen)
    if output is None:
        typer.get_binary_stream("stdout").write(content)
        return
    try:
        replace_file(output, content, mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"--output: {error}") from None
    typer.echo(f"wrote {output}")
