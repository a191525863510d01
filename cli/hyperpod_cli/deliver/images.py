"""The container images of a configuration, and their copies in the user's registry.

crane copies between registries by digest, all platforms of an image at once, and needs no daemon:
https://github.com/google/go-containerregistry
"""

import base64
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.config.own_images import own_images
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.helm.chart import HyperPodChart, HyperPodChartError
from hyperpod_cdk.helm.chart_rules import dependency_values
from hyperpod_cdk.helm.images import (
    ecr_region,
    is_from_outside,
    mirrored,
    split_image,
)
from hyperpod_cdk.loading import check_chart
from hyperpod_cdk.schema.errors import key_path
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.deliver.charts.manifest import images, parse_objects
from hyperpod_cli.helm.helm import Helm, helm_binary
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.packaged_chart import helm_chart

_ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns")
_FSX_DRIVER = "aws-fsx-csi-driver"
_REGISTRY = "helm.image_registry"


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image of a chart, by its original name and the one that is deployed.

    `mirror` is its name in `helm.image_registry`; None where it needs none, or without one. It
    `is_from_outside` if a network without internet access cannot pull what is deployed; the key
    names another place.
    """

    original: str
    used: str
    mirror: str | None
    is_from_outside: bool
    key: str = _REGISTRY

    @property
    def digest(self) -> str | None:
        """Its digest, if the chart names it; the tag of another one may move."""
        _, separator, digest = self.original.partition("@")
        return digest if separator else None


def listed_images(config: Config, *, chart: HyperPodChart, region: str | None) -> list[Image]:
    """Return the images of the HyperPod chart and of the project's own charts, sorted."""
    without = config.model_copy(
        update={"helm": config.helm.model_copy(update={"image_registry": None})}
    )
    registry = config.helm.image_registry
    originals = _rendered(without, chart=chart, region=region)
    used = set(_rendered(config, chart=chart, region=region))
    # By original: the name that is used, and the mirror.
    found: dict[str, tuple[str, str | None]] = {}
    for original in originals:
        mirror = None if registry is None else mirrored(original, registry=registry)
        name = mirror if mirror in used else original
        used.discard(name)
        needed = is_from_outside(original, registry=None, region=region)
        found[original] = (name, mirror if needed or name == mirror else None)
    # What helm.values name for the one registry alone.
    found |= {name: (name, None) for name in used if name not in found}
    names = {(original, name, mirror, _REGISTRY) for original, (name, mirror) in found.items()}
    for image in own_images(config):
        copy = None if image.used == image.original else image.used
        names.add((image.original, image.used, copy, key_path(image.key)))
    return [
        Image(
            original=original,
            used=name,
            mirror=mirror,
            is_from_outside=is_from_outside(name, registry=registry, region=region),
            key=key,
        )
        for original, name, mirror, key in sorted(names, key=str)
    ]


def listed_addons(config: Config) -> Iterator[tuple[str, str | None]]:
    """Yield name and version of each EKS add-on, whose images AWS has in ECR in each region.

    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
    """
    if config.control_plane is None:
        return
    driver = () if config.storage is None else (_FSX_DRIVER,)
    pinned = ADDON_VERSIONS.get(config.eks.version, {})
    for name in dict.fromkeys((*_ADDONS, *driver, *config.installed_addons)):
        yield name, pinned.get(name)


def _rendered(config: Config, *, chart: HyperPodChart, region: str | None) -> list[str]:
    values: dict[str, Any] = dependency_values(
        config.helm,
        region=region or "",
        instance_types=config.instance_types,
        chart=chart,
    )
    with tempfile.TemporaryDirectory(prefix="images-") as folder:
        helm = Helm(binary=helm_binary(), home=Path(folder))
        manifest = helm.template(
            chart.path.absolute(),
            values=values,
            release=config.helm.release,
            namespace=config.helm.namespace,
        )
    return images(parse_objects(manifest))


def images_of(config: Config, *, path: Path) -> list[Image]:
    """Return the images of a configuration; none without Kubernetes."""
    if config.control_plane is None:
        return []
    chart = helm_chart(config)
    check_chart(config, path=path, chart=chart)
    if chart.is_placeholder:
        raise HyperPodChartError(
            f"{path}: helm.chart: null is the official chart, which is not packaged: run "
            "`hyperpod-cdk charts`, which needs git and the network, or name a chart of your own"
        )
    return listed_images(config, chart=chart, region=known_region(config))


def refuse_unreachable(path: Path) -> None:
    """Refuse an image that no node can pull: the network is closed, or resolves AWS alone."""
    config = load_config(path)
    if not config.network.resolves_aws_alone:
        return
    again = command_line("images", path)
    found = [image for image in images_of(config, path=path) if image.is_from_outside]
    if found:
        raise ConfigError(f"{path}: {refusal(image, again=again)}" for image in found)


def refusal(image: Image, *, again: str) -> str:
    """Return the line about an image that no node can pull."""
    remedy = "a registry that the VPC reaches, or an image of your own in helm.values"
    return (
        f"{image.key}: {image.used} comes from outside what the network reaches, so no node could "
        f"pull it: name {remedy if image.key == _REGISTRY else 'a copy in a registry of the VPC'} "
        f"({again} lists all)"
    )


def lines(
    config: Config, *, images: Sequence[Image], digest: Callable[[str], str] | None = None
) -> Iterator[str]:
    """Yield what is said of the images; `digest` asks a registry for what a name does not say."""
    for image in images:
        yield image.original
        known = image.digest or (digest(image.original) if digest is not None else None)
        if known is not None:
            yield f"  {known}"
        if image.used != image.original:
            yield f"  deployed as {image.used}"
        if image.is_from_outside:
            yield "  from outside: a network without internet access cannot pull it"
    if config.control_plane is None:
        yield "Slurm runs on the nodes' AMI: the deployment pulls no container image."
        return
    yield ""
    yield "EKS add-ons, whose images AWS keeps in ECR in each region and which name no registry:"
    for name, version in listed_addons(config):
        yield f"  {name} {version or 'in the version that EKS chooses'}"


_CRANE = "crane"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageName:
    """Where an image goes: the registry, the repository with its folders, the tag or digest."""

    host: str
    repository: str
    reference: str

    @classmethod
    def of(cls, image: str) -> "ImageName":
        """Take an image's name apart."""
        host, rest = split_image(image)
        path, _, digest = rest.partition("@")
        repository, _, tag = path.partition(":")
        return cls(host=host, repository=repository, reference=digest or tag or "latest")


def commands(images: Sequence[Image]) -> Iterator[str]:
    """Yield the commands that mirror images, as they are typed."""
    mirrors = [(image.original, image.mirror) for image in images if image.mirror is not None]
    targets = [ImageName.of(mirror) for _, mirror in mirrors]
    for host in dict.fromkeys(target.host for target in targets):
        region = ecr_region(host)
        if region is not None:
            yield (
                f"aws ecr get-login-password --region {region} | "
                f"crane auth login {host} --username AWS --password-stdin"
            )
    for (original, mirror), target in zip(mirrors, targets, strict=True):
        region = ecr_region(target.host)
        if region is not None:
            yield (
                f"aws ecr create-repository --region {region} --repository-name "
                f"{target.repository} --image-tag-mutability IMMUTABLE "
                "--image-scanning-configuration scanOnPush=true"
            )
        yield shlex.join([_CRANE, "copy", original, mirror])


def mirror(images: Sequence[Image], *, report: Callable[[str], None]) -> None:
    """Copy the images that need a mirror, and make their repositories in ECR.

    Repositories of ECR get immutable tags, and scan what is pushed. A tag that is there stays.
    """
    logged_in: set[str] = set()
    for image in images:
        if image.mirror is None:
            continue
        target = ImageName.of(image.mirror)
        region = ecr_region(target.host)
        client = None if region is None else boto3.client("ecr", region_name=region)
        if client is not None and target.host not in logged_in:
            user, password = ecr_credentials(client)
            _crane(
                "auth", "login", target.host, "--username", user, "--password-stdin",
                password=password,
            )  # fmt: skip
            logged_in.add(target.host)
        there = None if client is None else _digest_in(client, target)
        if there is None:
            _crane("copy", image.original, image.mirror)
            report(f"copied {image.original} to {image.mirror}")
        elif there == digest(image.original):
            report(f"is there: {image.mirror}")
        else:
            raise OpsError(
                f"{image.mirror} exists with the digest {there}, which {image.original} does not "
                "have any more: its tags are immutable, so keep it, or delete it and run this "
                "again"
            )


def digest(image: str) -> str:
    """Ask an image's registry for its digest."""
    return _crane("digest", image)


def _crane(*arguments: str, password: str | None = None) -> str:
    """Return what crane prints."""
    crane = shutil.which(_CRANE)
    if crane is None:
        raise OpsError(
            "crane is not on PATH: install it (https://github.com/google/go-containerregistry), "
            "or run the commands of `hyperpod-cdk images --mirror --dry-run` on a machine that "
            "has it"
        )
    done = subprocess.run(  # noqa: S603 - an argument list, no shell
        [crane, *arguments], input=password, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OpsError(f"crane {arguments[0]} failed: {' '.join(done.stderr.split())}")
    return done.stdout.strip()


def ecr_credentials(client: AwsClient) -> tuple[str, str]:
    """Return user and password of the registries of a region."""
    [data] = client.get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(data["authorizationToken"]).decode().partition(":")
    return user, password


def _digest_in(client: AwsClient, target: ImageName) -> str | None:
    """Return the digest of an image in ECR; None if it is not there, in a repository that is."""
    kind = "imageDigest" if target.reference.startswith("sha256:") else "imageTag"
    try:
        found = client.describe_images(
            repositoryName=target.repository, imageIds=[{kind: target.reference}]
        )
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "RepositoryNotFoundException":
            client.create_repository(
                repositoryName=target.repository,
                imageTagMutability="IMMUTABLE",
                imageScanningConfiguration={"scanOnPush": True},
            )
        elif code != "ImageNotFoundException":
            raise
        return None
    return str(found["imageDetails"][0]["imageDigest"])
