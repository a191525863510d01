"""Copies images into a registry, with crane: https://github.com/google/go-containerregistry.

crane copies between registries by digest, all platforms of an image at once, and needs no daemon.
"""

import base64
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import ClientError

from hyperpod_cdk.helm.images import ecr_region, split_image
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.deliver.images.listing import Image
from hyperpod_cli.terminal.errors import FailedError

_CRANE = "crane"
Run = Callable[..., subprocess.CompletedProcess[str]]


class MirrorError(FailedError):
    """An image could not be mirrored; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where an image goes.

    Attributes:
        host: The registry.
        repository: The repository in it, with its folders.
        reference: Tag, or digest.
    """

    host: str
    repository: str
    reference: str

    @classmethod
    def of(cls, image: str) -> "Target":
        """Take an image's name apart."""
        host, rest = split_image(image)
        path, _, digest = rest.partition("@")
        repository, _, tag = path.partition(":")
        return cls(host=host, repository=repository, reference=digest or tag or "latest")


def commands(images: Sequence[Image]) -> Iterator[str]:
    """Yield the commands that mirror images, as somebody would type them."""
    mirrors = [(image.original, image.mirror) for image in images if image.mirror is not None]
    targets = [Target.of(mirror) for _, mirror in mirrors]
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


def mirror(
    images: Sequence[Image],
    *,
    report: Callable[[str], None],
    run: Run = subprocess.run,
    ecr: Callable[[str], Any] = lambda region: boto3.client("ecr", region_name=region),
) -> None:
    """Copy the images that need a mirror, and make their repositories in ECR.

    Repositories of ECR get immutable tags, and scan what is pushed. A tag that is there stays.

    Args:
        images: The images.
        report: Called with a line for each.
        run: Runs crane. Default: `subprocess.run`.
        ecr: Returns ECR's client of a region. Default: boto3's.

    Raises:
        MirrorError: There is no crane, it failed, or a tag in the mirror is another image.
        ClientError: ECR refused.
    """
    execute = _Crane(run=run)
    logged_in: set[str] = set()
    for image in images:
        if image.mirror is None:
            continue
        target = Target.of(image.mirror)
        region = ecr_region(target.host)
        client = None if region is None else ecr(region)
        if client is not None and target.host not in logged_in:
            user, password = _credentials(client)
            execute(
                "auth", "login", target.host, "--username", user, "--password-stdin",
                password=password,
            )  # fmt: skip
            logged_in.add(target.host)
        there = None if client is None else _digest_in(client, target)
        if there is None:
            execute("copy", image.original, image.mirror)
            report(f"copied {image.original} to {image.mirror}")
        elif there == execute("digest", image.original):
            report(f"is there: {image.mirror}")
        else:
            raise MirrorError(
                f"{image.mirror} is there with the digest {there}, which {image.original} does not "
                "have any more: its tags are immutable, so keep it, or delete it and run this again"
            )


def digest(image: str) -> str:
    """Ask an image's registry for its digest.

    Raises:
        MirrorError: There is no crane, or it failed.
    """
    return _Crane()("digest", image)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Crane:
    """Runs crane.

    Attributes:
        run: Runs a process. Default: `subprocess.run`.
    """

    run: Run = subprocess.run

    def __call__(self, *arguments: str, password: str | None = None) -> str:
        """Return what crane prints."""
        crane = shutil.which(_CRANE)
        if crane is None:
            raise MirrorError(
                "crane is not on PATH: install it (https://github.com/google/go-containerregistry),"
                " or run the commands of `make images MIRROR=1 DRY=1` where it is"
            )
        done = self.run(
            [crane, *arguments], input=password, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise MirrorError(f"crane {arguments[0]} failed: {' '.join(done.stderr.split())}")
        return str(done.stdout).strip()


def _credentials(client: AwsClient) -> tuple[str, str]:
    [data] = client.get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(data["authorizationToken"]).decode().partition(":")
    return user, password


def _digest_in(client: AwsClient, target: Target) -> str | None:
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
