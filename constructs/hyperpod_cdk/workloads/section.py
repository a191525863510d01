"""The `workloads` section: the repository of training images, and how they are built."""

from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.schema.section import Section

_MOST_KEPT = 100


# A build argument stays in the image's history, so an index with a password would show it.
# https://docs.docker.com/reference/dockerfile/#arg


class WorkloadsConfig(Section):
    """An ECR repository for training images, and a build that fills it."""

    base_registry: Annotated[
        str | None,
        Field(
            pattern=r"^\d{12}\.dkr\.ecr\.[a-z]{2,4}(?:-[a-z]+)+-\d\.amazonaws\.com(?:\.cn)?(?:/[a-z0-9._-]+)*$",
            max_length=255,
        ),
        Message(
            "must be a private registry of ECR, perhaps with folders, such as "
            "111122223333.dkr.ecr.us-west-2.amazonaws.com/mirror, without https://"
        ),
        Field(examples=["111122223333.dkr.ecr.us-west-2.amazonaws.com/mirror"]),
    ] = None
    """Private ECR registry, perhaps with folders, that has AWS's Deep Learning Containers under the
    names of their repositories. Default: AWS's own in the region."""

    package_index: Annotated[
        str | None,
        Field(
            pattern=r"^https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?$",
            max_length=500,
        ),
        Message(
            "must be the https:// URL of a package index, such as https://pypi.example.com/simple,"
            " without a user or password, which would stay readable in the image"
        ),
        Field(examples=["https://registry.example.com/simple"]),
    ] = None
    """URL of the index of Python packages that a build installs from. Packages must match the
    hashes in images/training/requirements-*.txt. Default: PyPI."""

    build_in_network: bool | None = None
    """Whether builds run in the VPC, in the subnets and the security group of the nodes. Default:
    true in a closed network, where a build then needs package_index; else false."""

    images_kept: Annotated[int, Field(ge=1, le=_MOST_KEPT)] = 10
    """How many images of each kind the repository keeps, 1 to 100; older ones are deleted, even if
    a job would pull them again. Default: 10."""
