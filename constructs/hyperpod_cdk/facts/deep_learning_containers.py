"""AWS's Deep Learning Containers: where each region has them, and which ones images begin with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Accelerator = Literal["GPU", "Neuron"]

_MOST_REGIONS: Final = (
    "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
    "ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3",
    "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
)  # fmt: skip
# https://aws.github.io/deep-learning-containers/reference/region_availability/, of
# https://github.com/aws/deep-learning-containers/blob/e0ecedea/docs/reference/region_availability.md
REGISTRY_ACCOUNTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_MOST_REGIONS, "763104351884"),
    "af-south-1": "626614931356",
    "ap-east-1": "871362719292",
    "ap-east-2": "975050140332",
    "ap-northeast-3": "364406365360",
    "ap-south-2": "772153158452",
    "ap-southeast-3": "907027046896",
    "ap-southeast-4": "457447274322",
    "ap-southeast-5": "550225433462",
    "ap-southeast-6": "633930458069",
    "ap-southeast-7": "590183813437",
    "ca-west-1": "204538143572",
    "cn-north-1": "727897471807",
    "cn-northwest-1": "727897471807",
    "eu-central-2": "380420809688",
    "eu-south-1": "692866216735",
    "eu-south-2": "503227376785",
    "il-central-1": "780543022126",
    "me-central-1": "914824155844",
    "me-south-1": "217643126080",
    "mx-central-1": "637423239942",
}
"""By region: the account whose private ECR registry has them. GovCloud is not in the list."""


def registry_of(region: str) -> str | None:
    """Return the host of a region's registry; None if AWS names none."""
    account = REGISTRY_ACCOUNTS.get(region)
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return None if account is None else f"{account}.dkr.ecr.{region}.{suffix}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseImage:
    """The container that an image of this project begins with; its Dockerfile names it too.

    The image, its Dockerfile and its tags are called by the name: `gpu`, `neuron`.
    """

    name: str
    repository: str
    tag: str


# https://aws.github.io/deep-learning-containers/reference/available_images/; Neuron's also in
# https://github.com/aws-neuron/deep-learning-containers, for trn1, trn2 and inf2: the last tag with
# the PyTorch that optimum-neuron 0.4.5 is for, https://pypi.org/project/optimum-neuron/0.4.5
BASE_IMAGES: Final[Mapping[Accelerator, BaseImage]] = {
    "GPU": BaseImage(
        name="gpu",
        repository="pytorch-training",
        tag="2.7.1-gpu-py312-cu128-ubuntu22.04-ec2",
    ),
    "Neuron": BaseImage(
        name="neuron",
        repository="pytorch-training-neuronx",
        tag="2.8.0-neuronx-py311-sdk2.26.1-ubuntu22.04",
    ),
}
"""By kind of accelerator."""
