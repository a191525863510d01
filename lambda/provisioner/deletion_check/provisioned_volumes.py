"""Claims whose file system the FSx CSI driver has made, and only deletes while it runs on a node.

Without nodes nobody deletes the file system of a claim; it stays, billed, and when the EKS cluster
goes too, nothing says whose it was.
"""

from collections.abc import Iterable, Iterator

from provisioner.helm.user_objects import UserObject
from provisioner.kubernetes.kubectl import Kubectl

_COLUMNS = (
    ".metadata.name",
    r".metadata.annotations.pv\.kubernetes\.io/provisioned-by",
    ".spec.persistentVolumeReclaimPolicy",
    ".spec.claimRef.namespace",
    ".spec.claimRef.name",
    ".metadata.deletionTimestamp",
)
_DRIVER = "fsx.csi.aws.com"
_CLAIM, _VOLUME = "PersistentVolumeClaim", "PersistentVolume"


def provisioned_claims(kubectl: Kubectl) -> list[UserObject]:
    """Return the claims that have file systems of their own.

    Raises:
        CommandFailedError: The API refused to say.
    """
    return sorted(set(claims_among(kubectl.table(["persistentvolumes"], _COLUMNS))))


def claims_among(volumes: Iterable[tuple[str, ...]]) -> Iterator[UserObject]:
    """Yield the claim of each volume that the driver has made and still has to delete."""
    for name, driver, policy, namespace, claim, deleted in volumes:
        if driver == _DRIVER and (policy == "Delete" or deleted):
            yield UserObject(_CLAIM, namespace, claim) if claim else UserObject(_VOLUME, "", name)
