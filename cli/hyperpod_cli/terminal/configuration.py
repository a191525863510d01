"""Which file a command's configuration is: an argument, an option, or what this folder has."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from hyperpod_cli.terminal.errors import OpsError

_CONFIG = "--config"
_SUFFIXES = (".yaml", ".yml")

DEFAULT_CONFIG = Path("config/default.yaml")
"""The configuration of a checkout of the project."""


class FileCommand(TyperCommand):
    """A command whose configuration is an argument, too: the one that ends in .yaml or .yml.

    It may stand anywhere among the arguments, so that `scale GROUP N FILE` needs no option.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as in Typer
        """Return what follows the command's name in its usage."""
        pieces = super().collect_usage_pieces(ctx)
        return [*pieces, "[FILE]"] if self._takes_file() else pieces

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the arguments, with FILE as the value of --config."""
        if not self._takes_file():
            return super().parse_args(ctx, args)
        ctx.allow_extra_args = True
        try:
            extra = super().parse_args(ctx, self._with_option(args))
            if extra:
                raise OpsError(
                    f"FILE: {extra[0]!r} must end in .yaml or .yml; rename it, or leave it out"
                )
        except OpsError:
            if not ctx.resilient_parsing:  # as completion does, with what is written so far
                raise
        return []

    def _takes_file(self) -> bool:
        return any(_CONFIG in each.opts for each in self.params)

    def _with_option(self, args: Sequence[str]) -> list[str]:
        with_value = {
            name
            for each in self.params
            if not getattr(each, "is_flag", True)  # an argument is neither
            for name in each.opts
        }
        files, others, previous = [], [], ""
        for word in args:
            is_value = previous in with_value
            if not is_value and word.endswith(_SUFFIXES) and not word.startswith("-"):
                files.append(word)
            else:
                others.append(word)
            previous = "" if is_value else word
        named = any(word.partition("=")[0] == _CONFIG for word in others)
        if len(files) + named > 1:
            both = f" and {_CONFIG}" if named else ""
            raise OpsError(f"FILE: {', '.join(files)}{both} name a configuration each; give one")
        return [*others, *(part for file in files for part in (_CONFIG, file))]


def only_config() -> Path:
    """Return the configuration of a deployment in this folder, if there is one."""
    from hyperpod_cdk import Config  # noqa: PLC0415 - takes long

    write = "or write one with `hyperpod-cdk init`"
    return _only(Config.model_fields, "config.yaml", in_checkout=DEFAULT_CONFIG, otherwise=write)


def only_pipeline() -> Path:
    """Return the configuration of a pipeline in this folder, if there is one."""
    from hyperpod_cdk.pipeline.section import PipelineFile  # noqa: PLC0415

    place = Path("config/pipeline/pipeline.yaml")
    copy = "or begin with the example in the page pipeline of the docs"
    return _only(PipelineFile.model_fields, "pipeline.yaml", in_checkout=place, otherwise=copy)


def _only(fields: Any, name: str, *, in_checkout: Path, otherwise: str) -> Path:  # noqa: ANN401 - of pydantic
    """Return the file of that name, else the only one with the required keys.

    A checkout of the project has its configurations in a folder, and none at its top: there, its
    example is the default.
    """
    if Path(name).is_file():
        return Path(name)
    required = {key for key, field in fields.items() if field.is_required()}
    files = [path for path in _yaml_files() if required <= _keys(path)]
    if len(files) == 1:
        return files[0]
    if files:
        raise OpsError(
            f"FILE: {', '.join(map(str, files))} are configurations; name one, as an argument"
        )
    if Path("app.py").is_file() and in_checkout.is_file():
        return in_checkout
    raise OpsError(
        f"FILE: this folder has no {name}, nor another configuration; name one, as an argument, "
        f"{otherwise}"
    )


def _yaml_files() -> Iterator[Path]:
    """Yield the files that may be configurations; a pipe is none, and would never end."""
    from hyperpod_cdk.schema.given_file import MOST_BYTES  # noqa: PLC0415 - takes long

    for path in sorted(Path().iterdir()):
        if path.suffix in _SUFFIXES and path.is_file() and path.stat().st_size <= MOST_BYTES:
            yield path


def _keys(path: Path) -> set[str]:
    """Return the keys of a file, whatever their values; none if it is no YAML, or no mapping."""
    import yaml  # noqa: PLC0415 - takes long

    try:
        root = yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return set()
    return (
        {str(key.value) for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    )
