"""Lists the images of a configuration, checks them, or mirrors them."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.helm.chart.chart import HyperPodChartError
from hyperpod_cdk.loading import check_chart
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.deliver.charts.commands import CommandError
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.images.listing import Image, listed_addons, listed_images
from hyperpod_cli.deliver.images.mirroring import MirrorError, commands, digest, mirror
from hyperpod_cli.terminal.command_line import config_parser, exit_with, make_command, refused
from hyperpod_cli.terminal.errors import REFUSED
from stacks.helm_chart import helm_chart


def main() -> int:
    """Run the command line; return 2 for what cannot be used, 1 for what failed."""
    parser = config_parser("hyperpod_cli.deliver.images", description=__doc__)
    parser.add_argument(
        "--check",
        action="store_true",
        help="refuse a closed network with an image that it cannot pull; say nothing else",
    )
    parser.add_argument("--digests", action="store_true", help="ask the registries for digests")
    parser.add_argument("--mirror", action="store_true", help="copy images to helm.image_registry")
    parser.add_argument("--dry-run", action="store_true", help="only print the commands")
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        if arguments.check and not config.network.closed:
            return 0
        images = _images(config, path=arguments.config)
        if arguments.check:
            return _check(images, path=arguments.config)
        if not arguments.mirror:
            for line in lines(config, images=images, digest=digest if arguments.digests else None):
                print(line)
        elif config.helm.image_registry is None:
            message = "helm.image_registry: null names no registry to mirror images into; set it"
            raise ConfigError([f"{arguments.config}: {message}"])
        elif arguments.dry_run:
            for command in commands(images):
                print(command)
        else:
            mirror(images, report=print)
    except (ConfigError, HyperPodChartError) as error:
        return refused(error)
    except (ChartError, CommandError, MirrorError, ClientError, BotoCoreError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _images(config: Config, *, path: Path) -> list[Image]:
    chart = helm_chart(config)
    check_chart(config, path=path, chart=chart)
    if chart.is_placeholder:
        raise HyperPodChartError(
            f"{path}: helm.chart: null is the official chart, which is not packaged: run "
            "`make charts`, which needs git and the network, or name a chart of your own"
        )
    return listed_images(config, chart=chart, region=known_region(config))


def _check(images: Sequence[Image], *, path: Path) -> int:
    outside = [image for image in images if image.is_from_outside]
    for image in outside:
        print(f"{path}: {refusal(image, again=make_command('images', path))}", file=sys.stderr)
    return REFUSED if outside else 0


def refusal(image: Image, *, again: str) -> str:
    """Return the line about an image that a closed network cannot pull."""
    return (
        f"helm.image_registry: {image.used} comes from outside the closed network, so no "
        "node could pull it: name a registry that the VPC reaches, or an image of your own in "
        f"helm.values ({again} lists all)"
    )


def lines(
    config: Config, *, images: Sequence[Image], digest: Callable[[str], str] | None = None
) -> Iterator[str]:
    """Yield what is said of the images.

    Args:
        config: The configuration.
        images: Its images.
        digest: Asks a registry for the digest of an image that does not name it. Default: nothing
            is asked.
    """
    for image in images:
        yield image.original
        known = image.digest or (digest(image.original) if digest is not None else None)
        if known is not None:
            yield f"  {known}"
        if image.used != image.original:
            yield f"  deployed as {image.used}"
        if image.is_from_outside:
            yield "  from outside: a network without internet access cannot pull it"
    yield ""
    yield "EKS add-ons, whose images AWS keeps in ECR in each region and which name no registry:"
    for name, version in listed_addons(config):
        yield f"  {name} {version or 'in the version that EKS chooses'}"


if __name__ == "__main__":
    exit_with(main)
