"""Whether instance groups are being patched."""

from collections.abc import Sequence

from provisioner.aws.errors import AWS_ERRORS
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.groups import groups_of
from provisioner.hyperpod.statuses import SoftwareUpdateStatus

_UNDER_WAY = frozenset({SoftwareUpdateStatus.PENDING, SoftwareUpdateStatus.IN_PROGRESS})


def is_patching(api: HyperPodApi, groups: Sequence[str]) -> bool:
    """Say whether one of the groups is being patched now; False if that cannot be known."""
    if not groups:
        return False
    try:
        shown = groups_of(api.describe()[0])
    except AWS_ERRORS as error:
        log.warning("not known", cluster=api.name, cause=str(error))
        return False
    return any(shown.get(name, {}).get("SoftwareUpdateStatus") in _UNDER_WAY for name in groups)
