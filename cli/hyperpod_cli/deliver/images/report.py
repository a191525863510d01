"""What is said of the images of a configuration, and the check of a closed network."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.loading import check_chart
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.deliver.images.listing import Image, listed_addons, listed_images
from hyperpod_cli.terminal.options import make_command
from hyperpod_stacks.packaged_chart import helm_chart


def images_of(config: Config, *, path: Path) -> list[Image]:
    """Return the images of a configuration.

    Args:
        config: The configuration.
        path: Its file.

    Raises:
        ConfigError: The chart does not know a value.
        HyperPodChartError: The chart cannot be read, or is not packaged.
    """
    chart = helm_chart(config)
    check_chart(config, path=path, chart=chart)
    if chart.is_placeholder:
        raise HyperPodChartError(
            f"{path}: helm.chart: null is the official chart, which is not packaged: run "
            "`make charts`, which needs git and the network, or name a chart of your own"
        )
    return listed_images(config, chart=chart, region=known_region(config))


def refuse_unreachable(path: Path) -> None:
    """Refuse a closed network with an image that it cannot pull.

    Args:
        path: File of the configuration.

    Raises:
        ConfigError: There is such an image, or the configuration cannot be used.
        HyperPodChartError: The chart cannot be read, or is not packaged.
    """
    config = load_config(path)
    if not config.network.closed:
        return
    again = make_command("images", path)
    found = [image for image in images_of(config, path=path) if image.is_from_outside]
    if found:
        raise ConfigError(f"{path}: {refusal(image, again=again)}" for image in found)


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
