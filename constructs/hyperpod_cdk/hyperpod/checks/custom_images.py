"""Custom AMIs."""

from hyperpod_cdk.hyperpod.instance_group import DEFAULT_IMAGE
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error, warning


def custom_images(cluster: ClusterConfig) -> Findings:
    """Find custom AMIs with a release of HyperPod's, for two architectures, or inherited.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    """
    custom = [
        (where, group)
        for where, group in cluster.instance_groups_with_paths()
        if group.image_id not in (None, DEFAULT_IMAGE)
    ]
    for where, group in custom:
        if group.image_release_version is not None:
            yield error(
                (*where, "image_release_version"),
                group.image_release_version,
                f"is a release of HyperPod's own AMI, and image_id {group.image_id} another image; "
                "leave one of them out",
            )
        architectures = sorted({facts.architecture for facts in group.facts})
        if len(architectures) > 1:
            yield error(
                (*where, "image_id"),
                group.image_id,
                f"is one AMI for types of {' and '.join(architectures)}; make a group of each",
            )
    if custom and cluster.is_continuous:
        for where, group in cluster.instance_groups_with_paths():
            if group.image_id is None and group.image_release_version is None:
                yield warning(
                    (*where, "image_id"),
                    None,
                    "lets a group that is added later start from the AMI of the cluster's earliest "
                    f"group, and {custom[0][1].name} has a custom one; give it an image of its own",
                )
