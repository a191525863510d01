"""Writes the tags of a HyperPod cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.claim import CREATION_TAG, Claim, visible_claim
from provisioner.hyperpod.found import Found

# botocore, AddTags: "each resource can have up to 50"; those of AWS itself do not count.
_MOST_TAGS = 50
_FORMER_MARK = f"{TAG_PREFIX}create-failed"
"""The mark of a failed creation in former versions."""


@dataclass(slots=True, kw_only=True)
class ClusterTags:
    """The tags of one cluster.

    Attributes:
        api: The cluster.

    Attributes:
        written: The claim as this run wrote it last; None if it wrote none. Tags show it later.
    """

    api: HyperPodApi
    written: Claim | None = field(default=None, init=False)

    def write(
        self,
        found: Found,
        add: Mapping[str, str],
        remove: Sequence[str] = (),
        *,
        patient: bool = False,
    ) -> Found:
        """Write tags; the creation's mark only if there is room: no request fails for it.

        Raises:
            ClientError: SageMaker refused.
        """
        arn, left = found.described["ClusterArn"], dict(found.tags)
        if CREATION_TAG in add and left.pop(_FORMER_MARK, None) is not None:
            self.api.tag(arn, {}, [_FORMER_MARK], patient=patient)
        if sum(not key.startswith("aws:") for key in {**left, **add}) > _MOST_TAGS:
            add = {key: value for key, value in add.items() if key != CREATION_TAG}
        self.api.tag(arn, add, remove, patient=patient)
        self.written = visible_claim(add) or self.written
        left = {key: value for key, value in left.items() if key not in remove}
        return replace(found, tags={**left, **add})

    def mark(self, found: Found, tags: Mapping[str, str]) -> bool:
        """Write tags for which nothing is failed, and say whether they are written."""
        try:
            # A poll retries nothing else: it comes back. What ends with this one cannot.
            self.write(found, tags, patient=True)
        except AWS_ERRORS as error:
            log.warning("not noted", cluster=self.api.name, cause=str(error))
            return False
        return True
