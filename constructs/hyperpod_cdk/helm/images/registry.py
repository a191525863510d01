"""Names of container images, and what they are called in the user's registry."""

import re
from typing import Final

from hyperpod_cdk.schema.limits import Matching

_LONGEST = 255
# https://github.com/distribution/reference/blob/main/regexp.go
_HOST = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?"
_PATH = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
# A first component without these is a folder of Docker Hub.
_HOST_MARKS = frozenset(".:")
_DOCKER_HUB = "docker.io"
_OFFICIAL = "library"
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
_ECR = re.compile(
    r"\d{12}\.dkr[.-]ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?:amazonaws|on)\.[a-z.]+"
)

IMAGE_REGISTRY: Final = Matching(
    pattern=rf"(?=[^/]*[.:]){_HOST}(?:/{_PATH})*",
    longest=_LONGEST,
    rule="must be a registry, such as 111122223333.dkr.ecr.us-west-2.amazonaws.com, perhaps "
    "with folders, in lower case and without https://",
)


def split_image(image: str) -> tuple[str, str]:
    """Return the registry of an image, and its name there with tag or digest."""
    first, _, rest = image.partition("/")
    if rest and (_HOST_MARKS & set(first) or first == "localhost"):
        return first, rest
    return _DOCKER_HUB, image if rest else f"{_OFFICIAL}/{image}"


def mirrored(image: str, *, registry: str) -> str:
    """Return what an image is called in a registry that mirrors it.

    Args:
        image: The image, or its repository.
        registry: The registry, perhaps with a folder.
    """
    if image.startswith(f"{registry}/"):
        return image
    return f"{registry}/{split_image(image)[1]}"


def ecr_region(host: str) -> str | None:
    """Return the AWS Region of a private registry of ECR; None for any other registry."""
    found = _ECR.fullmatch(host)
    return None if found is None else found["region"]


def is_from_outside(image: str, *, registry: str | None, region: str | None) -> bool:
    """Say whether a network without internet access cannot pull an image.

    It reaches ECR in its own region, and what the configuration names.

    Args:
        image: The image.
        registry: The registry that the configuration names, if any.
        region: AWS Region of the network; None for one that is not known, where ECR is believed.
    """
    host, _ = split_image(image)
    if registry is not None and image.startswith(f"{registry}/"):
        return False
    found = ecr_region(host)
    return found is None or region not in (None, found)
