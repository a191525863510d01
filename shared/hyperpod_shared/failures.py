"""Why clusters and nodes fail, by the words AWS has for it, and what to do about each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hyperpod_shared.aws_errors import DRIFT
from hyperpod_shared.clusters import (
    Described,
    GroupStatus,
    groups_of,
    leads,
    log_group,
    log_stream,
)

_LOG_STREAM = re.compile(r"LifecycleConfig/(?P<group>[\w-]+)/i-\w+")
# What HyperPod says around the error of an instance, and of the log that the next step names.
_AROUND = re.compile(
    r'\AInstance \S+ failed to provision with the following error: "(?P<error>.*)"'
    r"( Note that multiple instances may be impacted)?\Z",
    re.DOTALL,
)
_LOGS = re.compile(r"\s*To view lifecycle script logs, visit log group [^.]* log stream '[^']*'\.?")
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,17}\b")


@dataclass(frozen=True, slots=True)
class Cause:
    """One kind of failure.

    Its signs are what AWS says when it is this one; its next step may name `{log_group}` and
    `{log_stream}`.
    """

    name: str
    signs: str
    next_step: str

    def fits(self, text: str) -> bool:
        """Say whether a message of AWS speaks of it."""
        return re.search(self.signs, text, re.IGNORECASE | re.DOTALL) is not None

    @property
    def is_of_nodes(self) -> bool:
        """Whether it shows on nodes only, and not in what SageMaker refuses."""
        return "{log_group}" in self.next_step


_NOT_ALLOWED = r"AccessDenied|not authorized|UnauthorizedOperation"
LIFECYCLE_SCRIPT = Cause(
    "lifecycle script",
    # A script that may not be read did not run.
    rf"\A(?!.*({_NOT_ALLOWED})).*(lifecycle.?(script|config)|on_create|LcsExecution)",
    "Read log stream {log_stream} in CloudWatch log group {log_group}, fix the script, then "
    "deploy again.",
)
ACCOUNTING = Cause(
    "accounting database",
    r"accounting database|slurmdbd",
    "Check that the controller's subnet reaches the database at its port, and that the secret has "
    "the user name and password of a user who may create the schema; then deploy again.",
)
EDITED = Cause(
    "slurm.conf",
    DRIFT,
    "Partitions in slurm.conf were edited on the controller, which the strategy managed does "
    "not allow. Set cluster.slurm.strategy to merge to keep the edits, or for one deployment to "
    "overwrite to undo them; then deploy again.",
)
# The first that fits counts, so specific causes come before general ones.
CAUSES = (
    EDITED,
    Cause(
        "provisioning_parameters.json",
        r"provisioning_parameters\.json",
        "Remove that file from the folder of the lifecycle scripts: with it, HyperPod rejects "
        "SlurmConfig in instance groups.",
    ),
    ACCOUNTING,
    LIFECYCLE_SCRIPT,
    Cause(
        "deep health check",
        r"deep.?health.?check",
        "Look for the failed check in CloudWatch log group {log_group}; HyperPod replaces "
        "faulty hardware itself, so wait; to deploy without the checks, omit deep_health_checks.",
    ),
    Cause(
        "IP addresses",
        r"free addresses|InsufficientFreeAddresses|(not enough|run out of|insufficient).{0,30}"
        r"\bIP\b",
        "Give the nodes a larger subnet: each needs one address for itself and for each pod and "
        "network card.",
    ),
    Cause(
        "network interfaces",
        r"network interface.{0,60}(limit|quota)|(limit|quota).{0,60}network interface",
        "Request the quota `Network interfaces per Region` for VPC in Service Quotas, then deploy "
        "again.",
    ),
    Cause(
        "quota",
        r"quota|service limit|ResourceLimitExceeded|limit exceeded",
        "Request the quota named above for SageMaker in Service Quotas, then deploy again.",
    ),
    Cause(
        "training plan",
        r"training.?plan|reserved.?capacity",
        "Check that the training plan is active, has available instances and is in the zone of "
        "the group's subnet.",
    ),
    Cause(
        "capacity",
        r"Insufficient\w*Capacity|(insufficient|sufficient|no|not enough) ([\w.]+ )?capacity|"
        r"capacity (is )?(not available|unavailable)",
        "Wait or try again later, use another Availability Zone, or reserve capacity with a "
        "training plan.",
    ),
    Cause(
        "access entry",
        r"access.?entr|authentication mode",
        "Check that the EKS authentication mode is API, and delete an access entry of the "
        "execution role of an earlier cluster: aws eks delete-access-entry.",
    ),
    Cause(
        "execution role",
        r"\bassum(e|ing)\b.{0,80}role|execution role|PassRole",
        "Check that the execution role exists and that sagemaker.amazonaws.com may assume it, then "
        "deploy again.",
    ),
    Cause(
        "encryption key",
        r"\bKMS\b|CreateGrant",
        "Check that the key is enabled, in this region, and that its policy allows HyperPod to "
        "use it.",
    ),
    Cause(
        "EFA",
        r"\bEFA\b|security group.{0,80}(itself|self)",
        "Allow all traffic from and to itself in the nodes' security group, and keep the nodes "
        "in one zone.",
    ),
    Cause(
        "machine image",
        r"\bAMI\b|image.?id|ImageRelease",
        "Check that the AMI exists in this account and region, is not encrypted and has a root "
        "snapshot only.",
    ),
    Cause(
        "permission",
        _NOT_ALLOWED,
        "Allow the action that the message names, then deploy again.",
    ),
)
UNKNOWN = Cause(
    name="",
    signs=r"(?!)",
    next_step="Fix the cause that the message names, then deploy again.",
)


def cause_of(text: str) -> Cause:
    """Return the cause that a message of AWS speaks of, or UNKNOWN."""
    return next((cause for cause in CAUSES if cause.fits(text)), UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFailure:
    """One failure that AWS reports in its words, of the cluster, of a group, or of one instance."""

    text: str
    group: str | None = None
    instance: str | None = None

    @property
    def cause(self) -> Cause:
        """The kind of failure."""
        return cause_of(self.text)

    def within_group(self) -> "ReportedFailure":
        """Return the failure without the group, for a line that begins with it."""
        return replace(self, group=None)

    def __str__(self) -> str:
        where = ", ".join(
            f"{what} {name}"
            for what, name in (("group", self.group), ("instance", self.instance))
            if name
        )
        labels = ": ".join(part for part in (where, self.cause.name) if part)
        text = self._without_instance() if self.instance else self.text
        text = text.rstrip(". ")
        return f"{labels}: {text}" if labels else text

    def _without_instance(self) -> str:
        """Return AWS's words without what the instance's name and the next step say."""
        found = _AROUND.match(self.text.rstrip(". "))
        return _LOGS.sub("", found["error"] if found else self.text)

    def next_step(self, described: Described) -> str:
        """Return what to do, with the names of this cluster."""
        return self.cause.next_step.format(
            log_group=log_group(described),
            log_stream=log_stream(
                group=self.group or "<group>", instance=self.instance or "<instance>"
            ),
        )


def own_message(described: Described) -> ReportedFailure | None:
    """Return what a cluster says of itself, with the group and instance that it is about.

    The message names the instance, if anything; the group shows by its state.
    """
    text = described.get("FailureMessage")
    if not text:
        return None
    stream = _LOG_STREAM.search(text)
    instance = _INSTANCE.search(text)
    groups = groups_of(described)
    failed = [name for name in groups if groups[name].get("Status") == GroupStatus.FAILED]
    is_clear = len(failed) == 1 or any(leads(groups[name]) for name in failed)
    group = stream["group"] if stream else failed[0] if is_clear else None
    return ReportedFailure(text=text, group=group, instance=instance[0] if instance else None)


def failure_message(answer: Mapping[str, Any]) -> str | None:
    """Return the cause that DescribeClusterEvent names; None if it names none."""
    details = answer.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
    # All kinds of resources are there in what EventBridge delivers, most of them null.
    messages = (item.get("FailureMessage") for item in details.values() if item)
    return next((message for message in messages if message), None)
