"""Who made a thing: written on a Helm release as labels, on a cluster and on objects as tags.

CloudFormation tags nothing that a custom resource makes. Without a mark of our own, a retried
request could not tell its own work from another owner's of the same name.

Consent to losing users' objects and jobs is a tag of the EKS cluster: a stack in DELETE_FAILED
takes no new property, and who deletes it may have no access to Kubernetes. The tag can be set in
every state, and it names one creation of the stack: the next one needs a consent of its own. See
ADR 41.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

_LABEL_LIMIT = 63  # https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
_TAG_VALUE_LIMIT = 256

OWNER_LABEL = "hyperpod-cdk/owner"
STACK_LABEL = "hyperpod-cdk/stack"
RESOURCE_LABEL = "hyperpod-cdk/resource"

TAG_PREFIX = "hyperpod-cdk:"
STACK_TAG = f"{TAG_PREFIX}stack-id"
RESOURCE_TAG = f"{TAG_PREFIX}logical-id"
CONSENT_TAG = f"{TAG_PREFIX}delete-user-objects"


def digest(*parts: str) -> str:
    """Return 40 hexadecimal digits that stand for the parts and fit a Kubernetes label."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One custom resource, by its logical id, in one stack, by its ARN."""

    stack_id: str
    logical_id: str

    @property
    def account(self) -> str:
        """ID of the stack's account."""
        return self.stack_id.split(":")[4]

    @property
    def labels(self) -> dict[str, str]:
        """The mark as Kubernetes labels: a hash to compare, and names for people."""
        stack_name = self.stack_id.split("/")[1] if "/" in self.stack_id else self.stack_id
        return {
            OWNER_LABEL: digest(self.stack_id, self.logical_id),
            STACK_LABEL: stack_name[:_LABEL_LIMIT].strip("-"),
            RESOURCE_LABEL: self.logical_id[:_LABEL_LIMIT],
        }

    @property
    def tags(self) -> dict[str, str]:
        """The mark as AWS tags."""
        return {
            STACK_TAG: self.stack_id[:_TAG_VALUE_LIMIT],
            RESOURCE_TAG: self.logical_id[:_TAG_VALUE_LIMIT],
        }

    @property
    def place(self) -> str:
        """The stack by its name, and the resource in it: a later stack of the name has the same."""
        return f"{self.stack_id.rpartition('/')[0]}/{self.logical_id}"

    def owns_labels(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels carry this owner's mark."""
        return labels.get(OWNER_LABEL) == self.labels[OWNER_LABEL]

    def owns_tags(self, tags: Mapping[str, str]) -> bool:
        """Say whether the tags carry this owner's mark."""
        return all(tags.get(key) == value for key, value in self.tags.items())

    def owned_before(self, tags: Mapping[str, str]) -> bool:
        """Say whether the tags carry this owner's mark, or that of a former stack of its name.

        A stack's ARN ends in an id drawn anew each time the stack is created, and two stacks of
        one name cannot be there at once: what a namesake made, it left behind.
        """
        made_by = tags.get(STACK_TAG, "").rpartition("/")[0]
        return (
            made_by == self.tags[STACK_TAG].rpartition("/")[0]
            and tags.get(RESOURCE_TAG) == self.tags[RESOURCE_TAG]
        )


def owner_in_labels(labels: Mapping[str, str]) -> str:
    """Name the owner that labels speak of, for a message."""
    return _named(labels.get(STACK_LABEL), labels.get(RESOURCE_LABEL))


def is_marked(tags: Mapping[str, str]) -> bool:
    """Say whether tags speak of any owner."""
    return STACK_TAG in tags


def owner_in_tags(tags: Mapping[str, str]) -> str:
    """Name the owner that tags speak of, for a message."""
    return _named(tags.get(STACK_TAG), tags.get(RESOURCE_TAG))


def _named(stack: str | None, resource: str | None) -> str:
    unknown = "someone else (it carries no mark of any stack)"
    return unknown if stack is None else f"the resource {resource} of the stack {stack}"


def is_consent(tags: Mapping[str, str], owner: Owner) -> bool:
    """Say whether an EKS cluster's tags consent to what an owner's stack deletes."""
    return tags.get(CONSENT_TAG) == _creation(owner)


def consent_command(cluster_arn: str, owner: Owner) -> str:
    """Return the command of the AWS CLI that consents."""
    region = cluster_arn.split(":")[3]
    return (
        f"aws eks tag-resource --region {region} --resource-arn {cluster_arn} "
        f"--tags {CONSENT_TAG}={_creation(owner)}"
    )


def _creation(owner: Owner) -> str:
    """Return what CloudFormation draws anew each time a stack of the name is created."""
    return owner.stack_id.rpartition("/")[2]
