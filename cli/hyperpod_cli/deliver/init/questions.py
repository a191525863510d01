"""The questions of `hyperpod-cdk init`: how an answer is read, and whether it can be deployed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.availability_zones import highest_zone_number, zone_id_prefix
from hyperpod_cdk.schema.errors import Finding, KeyPath, one_line, shown
from hyperpod_cli.deliver.init.template import Answers, configuration, default_answers
from hyperpod_cli.deliver.new_file import refused
from hyperpod_cli.terminal.errors import LinesError

_NAME = r"{region}[a-z]|[a-z]"
_CONNECT_SECONDS = 5
_SESSION = re.compile(r"arn:[\w-]+:sts::\d+:assumed-role/(?P<role>[^/]+)/.+")


class AnswerError(LinesError):
    """An answer that cannot be deployed; one line for each reason."""


def _zone_ids(zones: Sequence[str], *, region: str) -> list[str]:
    """Return zones with IDs in the place of names; what is no name of the region's stays."""
    pattern = re.compile(_NAME.format(region=re.escape(region)))
    names = {zone: f"{region}{zone[-1]}" for zone in zones if pattern.fullmatch(zone)}
    ids = _ids(sorted(set(names.values())), region=region) if names else {}
    return [ids[names[zone]] if zone in names else zone for zone in zones]


def _ids(names: Sequence[str], *, region: str) -> dict[str, str]:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - takes long

    try:
        found = _client("ec2", region=region).describe_availability_zones(ZoneNames=names)
    except (BotoCoreError, ClientError) as error:
        raise AnswerError(
            f"--zones: {', '.join(names)}: stands for another zone in each account; use the zone "
            f"ID, or credentials that allow ec2:DescribeAvailabilityZones ({one_line(error)})"
        ) from None
    return {zone["ZoneName"]: zone["ZoneId"] for zone in found["AvailabilityZones"]}


def calling_principal(region: str) -> str | None:
    """Return the ARN of the IAM role or user of the credentials; None without usable ones."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - takes long

    try:
        arn: str = _client("sts", region=region).get_caller_identity()["Arn"]
        session = _SESSION.fullmatch(arn)
        if session is None:
            return arn if ":user/" in arn else None
        # The ARN of a session leaves out the path of its role, which EKS needs.
        role: str = _client("iam", region=region).get_role(RoleName=session["role"])["Role"]["Arn"]
    except (BotoCoreError, ClientError):
        return None
    return role


def _client(service: str, *, region: str) -> Any:  # noqa: ANN401 - of boto3
    """Return a client that asks once, and does not wait long."""
    # Needed for few answers, and takes longer to import than all else takes to run.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    once = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_CONNECT_SECONDS,
        retries={"total_max_attempts": 1},
    )
    clients: Any = boto3.client  # the stubs know each service by a literal
    return clients(service, region_name=region, config=once)


_ZONES = 2
_NONE = "none"
ADMIN = "--admin"
"""The option that says who may administer the EKS cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question.

    Attributes:
        key: What the answer is called on the command line, such as `--name`.
        text: The question, given the answers before it.
        read: Returns the answers with this one, read from a text.
        given: Returns the answer as it is written.
        place: Where the answer is in the configuration.
        after: Key of the question without whose answer this one cannot be judged; empty for none.
        is_alone: Whether it alone is judged, because what follows from it is asked next.
    """

    key: str
    text: Callable[[Answers], str]
    read: Callable[[Answers, str], Answers]
    given: Callable[[Answers], str]
    place: KeyPath
    after: str = ""
    is_alone: bool = False


def known_zones(region: str) -> list[str]:
    """Return the IDs of a region's zones that EKS takes; none for a region with unknown IDs."""
    prefix = zone_id_prefix(region)
    if region not in regions() or prefix is None:
        return []
    zones = (f"{prefix}-az{number + 1}" for number in range(highest_zone_number(region)))
    return [zone for zone in zones if zone not in ZONES_WITHOUT_EKS]


def answered(question: Question, text: str, *, answers: Answers, path: Path) -> Answers:
    """Return the answers with one more; raise AnswerError if it cannot be deployed.

    The answers after it are such as refuse nothing.
    """
    if not text.isprintable():
        raise AnswerError(f"{question.key}: {shown(text)} must be text without control characters")
    found = question.read(answers, text)
    reasons = [
        # The finding without the key that the answer is.
        str(replace(finding, path=()) if _is_at(finding, question.place) else finding)
        for finding in refused(yaml.safe_load(configuration(found, path=path)))
        if not question.is_alone or _is_at(finding, question.place)
    ]
    if reasons:
        # A zone is both of the nodes and of the others.
        raise AnswerError("\n".join(f"{question.key}: {each}" for each in dict.fromkeys(reasons)))
    return found


def first_answers() -> Answers:
    """Return what the first answer is judged with: the smallest deployment."""
    return replace(default_answers(), capacity_gib=None)


def _is_at(finding: Finding, place: KeyPath) -> bool:
    return finding.path[: len(place)] == place


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else text


def _with_region(answers: Answers, text: str) -> Answers:
    found = replace(answers, region=text)
    if text != answers.region:
        zones = known_zones(text)[:_ZONES]
        # In the default configuration, too, the nodes are in the second one.
        found = replace(found, zones=tuple(reversed(zones)))
    return found


def _with_zones(answers: Answers, text: str) -> Answers:
    zones = [zone for zone in re.split(r"[\s,]+", text) if zone]
    if not 1 <= len(zones) <= _ZONES:
        raise AnswerError(
            f"--zones: {shown(text)} must be one or two zones, first that of the nodes; add more "
            "in the file"
        )
    zones = _zone_ids(zones, region=answers.region)
    others = [zone for zone in known_zones(answers.region) if zone not in zones]
    zones += others[: _ZONES - len(zones)]
    return replace(answers, zones=tuple(zones))


def _zones_text(answers: Answers) -> str:
    zones = known_zones(answers.region)
    known = f" ({answers.region} has {', '.join(zones)})" if zones else ""
    return f"Zones{known}, the nodes' first"


def _with_storage(answers: Answers, text: str) -> Answers:
    return replace(answers, capacity_gib=None if text.lower() == _NONE else _number(text))


def _fixed(text: str) -> Callable[[Answers], str]:
    return lambda _: text


QUESTIONS: Sequence[Question] = (
    Question(
        key="--name",
        text=_fixed("Name of the deployment"),
        read=lambda answers, text: replace(answers, name=text),
        given=lambda answers: answers.name,
        place=("name",),
        is_alone=True,
    ),
    Question(
        key="--region",
        text=_fixed("AWS region"),
        read=_with_region,
        given=lambda answers: answers.region,
        place=("region",),
        is_alone=True,
    ),
    Question(
        key="--zones",
        text=_zones_text,
        read=_with_zones,
        given=lambda answers: ", ".join(answers.zones),
        place=("network",),
        after="--region",
    ),
    Question(
        key="--type",
        text=_fixed("Instance type"),
        read=lambda answers, text: replace(answers, instance_type=text),
        given=lambda answers: answers.instance_type,
        place=("cluster", "instance_groups", 0, "instance_type"),
    ),
    Question(
        key="--count",
        text=_fixed("Number of instances"),
        read=lambda answers, text: replace(answers, instance_count=_number(text)),
        given=lambda answers: str(answers.instance_count),
        place=("cluster", "instance_groups", 0, "instance_count"),
    ),
    Question(
        key="--storage",
        text=_fixed(f"GiB of FSx for Lustre, or {_NONE}"),
        read=_with_storage,
        given=lambda _: str(default_answers().capacity_gib),
        place=("storage",),
    ),
    Question(
        key=ADMIN,
        text=_fixed(f"ARN of the IAM role or user that may administer the EKS cluster, or {_NONE}"),
        read=lambda answers, text: replace(answers, admin=None if text.lower() == _NONE else text),
        given=lambda answers: calling_principal(answers.region) or _NONE,
        place=("eks", "admins"),
    ),
)
