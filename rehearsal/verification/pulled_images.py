"""What the nodes of a closed network pull."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.helm.images.registry import is_from_outside
from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools

IMAGES_ARE_REACHED = "images are those of the registry, and of ECR in the region"


def image_checks(config: Config, *, tools: ClusterTools, region: str) -> Iterator[Check]:
    """Yield whether a closed network reaches each image of what is installed.

    Nodes of the local AWS pull nothing, so this tells what theirs would fail at.
    """
    if not config.network.closed:
        return
    images: set[str] = set()
    for kind in ("daemonsets", "deployments"):
        fields = "{.items[*].spec.template.spec['initContainers','containers'][*].image}"
        command = f'kubectl get {kind} -A -o "jsonpath={fields}"'
        succeeded, text = tools.run(command)
        if not succeeded:
            yield Check(check=command, ok=False)
            return
        images |= set(text.split())
    registry = config.helm.image_registry
    outside = sorted(
        image for image in images if is_from_outside(image, registry=registry, region=region)
    )
    but = f", but {', '.join(outside)}" if outside else ""
    yield Check(check=f"{IMAGES_ARE_REACHED}{but}", ok=bool(images) and not outside)
