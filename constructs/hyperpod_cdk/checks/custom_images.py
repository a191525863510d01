"""Custom AMIs."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error, warning
from hyperpod_cdk.checks.inputs import Deployment, Group

# The value of ImageId for the latest image of HyperPod itself.
_DEFAULT_IMAGE = "default"


def custom_images(deployment: Deployment) -> Iterator[Finding]:
    """Find custom AMIs with a release of HyperPod's, for two architectures, or inherited.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    """
    custom = [group for group in deployment.groups if _is_custom(group)]
    for group in custom:
        if group.image_release_version is not None:
            yield error(
                group.at("image_release_version"),
                group.image_release_version,
                f"is a release of HyperPod's own AMI, and image_id {group.image_id} another image; "
                "leave one of them out",
            )
        architectures = sorted({facts.architecture for facts in group.facts})
        if len(architectures) > 1:
            yield error(
                group.at("image_id"),
                group.image_id,
                f"is one AMI for types of {' and '.join(architectures)}; make a group of each",
            )
    if custom and deployment.continuous:
        for group in deployment.groups:
            if group.restricted:  # which chooses no image
                continue
            if group.image_id is None and group.image_release_version is None:
                yield warning(
                    group.at("image_id"),
                    None,
                    "lets a group that is added later start from the AMI of the cluster's earliest "
                    f"group, and {custom[0].name} has a custom one; give it an image of its own",
                )


def _is_custom(group: Group) -> bool:
    return group.image_id not in (None, _DEFAULT_IMAGE)
