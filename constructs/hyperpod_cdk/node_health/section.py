"""The `node_health` section: the user's health check on each node with accelerators."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.given_file import given_bytes
from hyperpod_cdk.schema.limits import Message, is_token
from hyperpod_cdk.schema.section import Api, Section, judged, path_mark

RELEASE: Final = "node-health"
"""Name of its Helm release."""
RECURRING_NAMESPACE: Final = f"{RELEASE}-recurring"
"""Namespace of the jobs of recurring checks, which the chart makes."""
# Where Kubernetes expects pods of the priority class system-node-critical.
NAMESPACE: Final = "kube-system"
NO_ACTION: Final = "none"
# The limits of charts/node-health/values.schema.json.
_SHORTEST_INTERVAL, _LONGEST_INTERVAL = 10, 86_400
_MOST_FAILURES = 100
_MOST_AT_ONCE = 25
_MOST_CHARACTERS = 100_000
CHECK_IMAGE: Final = (
    "public.ecr.aws/hpc-cloud/nccl-tests:cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3"
    "@sha256:a5390d3f0eb50f3e5854085e2ae0fef90b9eb4f3b7486ed4cab0d47864809d4c"
)
"""Image that checks devices: https://gallery.ecr.aws/hpc-cloud/nccl-tests"""

Image = Annotated[
    str,
    Field(pattern=r"^[^\s@]+@sha256:[0-9a-f]{64}$"),
    Message(
        "must end with the digest of an image, such as registry.example/check@sha256: and 64 "
        "hexadecimal digits"
    ),
]

# As Kubernetes reads them; the day of the week ends with Saturday:
# https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
_CRON = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day of the month": (1, 31),
    "month": (1, 12),
    "day of the week": (0, 6),
}
_CRON_ITEM = re.compile(r"(?:\*|(?P<first>\d+)(?:-(?P<last>\d+))?)(?:/(?P<step>\d+))?")


def _schedule_findings(schedule: str) -> Iterator[Finding]:
    """Find numbers that Kubernetes would refuse, when a deployment is half done."""
    if is_token(schedule):
        return
    for (field, (least, most)), text in zip(_CRON.items(), schedule.split(" "), strict=True):
        for item in text.split(","):
            read = _CRON_ITEM.fullmatch(item)
            if read is None:
                message = f"{field} {item!r} must be *, a number or a range such as 1-5, or a step"
            elif wrong := [
                n for n in read.group("first", "last") if n and not least <= int(n) <= most
            ]:
                message = f"{field} {wrong[0]} must be {least} to {most}"
            elif read["last"] and int(read["first"]) > int(read["last"]):
                message = f"{field} {item} must begin with the smaller number"
            elif read["step"] and int(read["step"]) == 0:
                message = f"{field} {item} must have a step above 0"
            else:
                continue
            yield Finding(value=schedule, message=f"is no schedule: {message}")


Schedule = Annotated[
    str,
    Field(pattern=r"^([\d*/,-]+ ){4}[\d*/,-]+$"),
    Message(
        "must be five fields of cron in UTC, by numbers: minute, hour, day of the month, "
        "month and day of the week, such as 0 3 * * *"
    ),
    judged(_schedule_findings),
]


class RecurringHealthConfig(Section):
    """Checks of idle nodes between jobs: devices, EFA, ECC and Xid errors, as validate-nodes does.

    A node that fails gets the taint hyperpod-cdk/quarantine, until `hyperpod-cdk release` removes
    it.
    """

    schedule: Annotated[Schedule, Api("schedule"), Field(examples=["0 3 * * *"])]
    """Schedule in UTC, in cron's five fields:
    https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax"""

    image: Annotated[
        str, Api("image"), Field(min_length=1, examples=["registry.example/nccl-tests:1"])
    ] = CHECK_IMAGE
    """Image of the check: it needs python3, and for EFA fi_info. Default: AWS's nccl-tests."""

    max_quarantined: Annotated[int, Field(ge=1, le=_MOST_AT_ONCE), Api("maxQuarantined")] = 1
    """Maximum number of nodes in quarantine; 1 to 25. Default: 1."""

    timeout_seconds: Annotated[int, Field(ge=60, le=3600), Api("timeoutSeconds")] = 600
    """Seconds after which an unfinished check is ignored, 60 to 3600. Default: 600."""


def _problems(script: Path) -> Iterator[str]:
    """Find what keeps a node from running a script."""
    try:
        content = given_bytes(script) if script.is_file() else None
    except OSError as error:
        yield f"cannot be read: {error.strerror}"
        return
    if content is None:
        yield f"must be a script; {str(script)!r} is not a file"
        return
    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield f"must be text in UTF-8, for a ConfigMap carries it; {str(script)!r} is not"
        return
    if not text.startswith("#!/"):
        yield "must say in its first line what runs it; begin it with #!/bin/sh"
    if len(text) > _MOST_CHARACTERS:
        yield (
            f"has {len(text):,} characters, more than {_MOST_CHARACTERS:,}; put what is long into "
            "the image"
        )
    if "\r\n" in text:
        yield (
            "has the line ends of Windows, for which a node says `not found`; convert it with: "
            f"sed -i 's/\\r$//' {script}"
        )


class NodeHealthConfig(Section):
    """A script on each node with GPUs or Trainium, checks of idle nodes between jobs, or both."""

    script: Annotated[str | None, path_mark(_problems)] = None
    """The script, relative to the folder of the configuration file: its first line names its
    interpreter, and a non-zero exit code means failure. At most 100,000 characters. Default: none,
    for recurring checks alone."""

    interval_seconds: Annotated[
        int, Field(ge=_SHORTEST_INTERVAL, le=_LONGEST_INTERVAL), Api("intervalSeconds")
    ] = 60
    """How often it runs, in seconds, 10 to 86400. Default: 60."""

    failures: Annotated[int, Field(ge=1, le=_MOST_FAILURES), Api("failures")] = 3
    """Number of consecutive failures until its node is marked, 1 to 100. Default: 3."""

    action: Annotated[Literal["none", "reboot", "replace"], Api("action")] = NO_ACTION
    """none: a node whose script fails is only annotated. reboot, replace: it is also labeled, so
    that HyperPod reboots or replaces it. Default: none."""

    max_at_once: Annotated[int, Field(ge=1, le=_MOST_AT_ONCE), Api("maxAtOnce")] = 1
    """Maximum number of nodes that are marked or being recovered at a time, including those that
    HyperPod marked; 1 to 25. Default: 1."""

    image: Annotated[
        Image | None,
        Api("image"),
        Field(
            examples=[
                "registry.example/check@sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
            ]
        ),
    ] = None
    """Image of the check and of the controller, by digest: it needs sh, python3, and the programs
    that the script calls. Default: Python on Alpine, as charts/node-health pins it."""

    recurring: RecurringHealthConfig | None = None
    """Checks of idle nodes between jobs. Default: none."""

    @model_validator(mode="after")
    def _check_something(self) -> Self:
        if self.script is None and self.recurring is None:
            raise ValueError("checks nothing; set script, recurring or both, or leave it out")
        return self
