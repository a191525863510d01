"""A claim, by which the pods of a namespace mount a file system."""

from typing import Annotated

from hyperpod_cdk.helm.section import Namespace
from hyperpod_cdk.schema.dns_names import DNS_LABEL
from hyperpod_cdk.schema.limits import Matching, OneOf
from hyperpod_cdk.schema.section import Section

READ_ONLY = "ReadOnlyMany"
# Kubernetes takes longer ones; this one is also part of the volume's name.
_CLAIM_NAME = Matching(
    pattern=DNS_LABEL,
    longest=63,
    rule="must be 1 to 63 lower-case letters, digits and inner hyphens",
)


class ClaimConfig(Section):
    """A PersistentVolumeClaim of a file system, with a PersistentVolume of its own."""

    namespace: Namespace = "default"
    """Namespace of the pods."""

    name: Annotated[str, _CLAIM_NAME] | None = None
    """Name of the claim. Default: fsx-claim, fsx-<name>-claim for a further file system, and
    home-claim for home directories."""

    access: Annotated[
        str, OneOf(values=("ReadWriteMany", READ_ONLY), noun="an access mode of a shared volume")
    ] = "ReadWriteMany"
    """ReadWriteMany: all its pods may write. ReadOnlyMany: none may. Cannot be changed later: name
    another claim."""

    create_namespace: bool = False
    """Whether the namespace is created, and kept when the claim goes. Default: false, it exists."""
