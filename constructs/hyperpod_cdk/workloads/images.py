"""Which training images a deployment builds, what they begin with, and how each is built."""

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES, BaseImage
from hyperpod_cdk.facts.instance_types import instance_facts

CONTEXT_EXCLUDES = ("__pycache__", ".*")
"""Names in the build context that are neither sent nor part of a tag."""
PLATFORM = "linux/amd64"
"""Of the nodes that can run the images."""
_DIGITS = 16


def base_images(instance_types: Sequence[str]) -> tuple[BaseImage, ...]:
    """Return what the training images of a cluster begin with: one for GPUs, one for Neuron."""
    found = (instance_facts(name) for name in instance_types)
    kinds = {facts.accelerator.kind for facts in found if facts and facts.accelerator}
    return tuple(BASE_IMAGES[kind] for kind in BASE_IMAGES if kind in kinds)


def image_output(name: str) -> str:
    """Return the output of the stack that has the URI of an image, by the name of its base."""
    return f"TrainingImage{name.title()}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingImage:
    """An image that jobs train in, by what it begins with.

    Its tag has that name, and the digest of what it is built from.
    """

    base: BaseImage
    tag: str

    def build(self, *, repository: str, base_registry: str, index: str | None) -> list[str]:
        """Return the command that builds and pushes it, in the folder of its context.

        `index` is that of Python packages; None for PyPI.
        """
        arguments = {"DLC_REGISTRY": base_registry, **({"PIP_INDEX_URL": index} if index else {})}
        return [
            "docker", "buildx", "build", "--push",
            "--platform", PLATFORM,
            # Attestations would make each tag a list of two images, one of which no node can run.
            "--provenance=false",
            *(word for pair in arguments.items() for word in ("--build-arg", "=".join(pair))),
            "--file", f"Dockerfile.{self.base.name}",
            "--tag", f"{repository}:{self.tag}",
            ".",
        ]  # fmt: skip


def training_image(base: BaseImage, *, context: Path) -> TrainingImage:
    """Return an image, with the tag that what it is built from has.

    A change of a file of the context or of its own Dockerfile gives another tag, and nothing else
    does: neither dates nor the Dockerfile of another image.
    """
    digest = hashlib.sha256()
    for path, content in _files(context, dockerfile=f"Dockerfile.{base.name}"):
        digest.update(f"{path}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return TrainingImage(base=base, tag=f"{base.name}-{digest.hexdigest()[:_DIGITS]}")


def _files(context: Path, *, dockerfile: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(context.rglob("*")):
        relative = path.relative_to(context)
        hidden = any(fnmatch(part, each) for part in relative.parts for each in CONTEXT_EXCLUDES)
        is_other = path.name.startswith("Dockerfile.") and path.name != dockerfile
        if path.is_file() and not hidden and not is_other:
            yield relative.as_posix(), path.read_bytes()


def build_script(image: TrainingImage, *, index: str | None) -> str:
    """Return what CodeBuild runs for an image, in Bash; a tag that is there is not built again.

    It reads BASE_REGISTRY, REPOSITORY_NAME and REPOSITORY_URI. `index` is that of Python packages;
    None for PyPI.
    """
    command = image.build(repository="$REPOSITORY_URI", base_registry="$BASE_REGISTRY", index=index)
    # In double quotes, the shell puts in what only CloudFormation knows.
    build = " ".join(f'"{word}"' if "$" in word else shlex.quote(word) for word in command)
    return f"""set -euo pipefail
found=$(aws ecr batch-get-image --repository-name "$REPOSITORY_NAME" \\
  --image-ids imageTag={image.tag} --query 'length(images)' --output text)
if [ "$found" != 0 ]; then
  echo "{image.tag} is there already."
else
  for host in "${{BASE_REGISTRY%%/*}}" "${{REPOSITORY_URI%%/*}}"; do
    aws ecr get-login-password | docker login --username AWS --password-stdin "$host"
  done
  {build}
fi
"""
