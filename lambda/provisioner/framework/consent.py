"""Consent to losing users' objects and jobs, given as a tag of the EKS cluster.

A stack in DELETE_FAILED takes no new property, and who deletes it may have no access to Kubernetes.
The tag can be set in every state, and it names one creation of the stack: the next one needs a
consent of its own. See docs/adr/0041.
"""

from collections.abc import Mapping

from provisioner.framework.owner import TAG_PREFIX, Owner

CONSENT_TAG = f"{TAG_PREFIX}delete-user-objects"


def is_consent(tags: Mapping[str, str], owner: Owner) -> bool:
    """Say whether an EKS cluster's tags consent to what an owner's stack deletes."""
    return tags.get(CONSENT_TAG) == _creation(owner)


def consent_command(cluster_arn: str, owner: Owner) -> str:
    """Return the command of the AWS CLI that consents.

    Args:
        cluster_arn: ARN of the EKS cluster.
        owner: A resource of the stack that deletes.
    """
    region = cluster_arn.split(":")[3]
    return (
        f"aws eks tag-resource --region {region} --resource-arn {cluster_arn} "
        f"--tags {CONSENT_TAG}={_creation(owner)}"
    )


def _creation(owner: Owner) -> str:
    """Return what CloudFormation draws anew each time a stack of the name is created."""
    return owner.stack_id.rpartition("/")[2]
