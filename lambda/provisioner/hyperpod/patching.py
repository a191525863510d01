"""Whether instance groups are being patched."""

from collections.abc import Sequence

from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.clusters import groups_of, is_updated
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi


def is_patching(api: HyperPodApi, groups: Sequence[str]) -> bool:
    """Say whether one of the groups is being patched now; False if that cannot be known."""
    if not groups:
        return False
    try:
        shown = groups_of(api.describe()[0])
    except AWS_ERRORS as error:
        log.warning("not known", cluster=api.name, cause=str(error))
        return False
    return any(is_updated(shown.get(name, {})) for name in groups)
