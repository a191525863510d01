"""Lambda's entry point `notify`: an event of HyperPod, or the schedule's."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    code,
    is_denied,
    is_not_found,
    is_transient,
    or_none,
)
from hyperpod_shared.clusters import ClusterStatus, Described, present_groups
from hyperpod_shared.failures import UNKNOWN, cause_of, failure_message
from notifier.decision import (
    MOST_WAITS,
    Message,
    Wait,
    decide,
    fault_of_node,
    is_of_status,
    of_node_group,
)
from notifier.findings import (
    HEALTH_EVENTS,
    HEALTH_STREAMS,
    Event,
    Finding,
    What,
    finding_of,
    finding_of_record,
)
from notifier.memory import Memory
from notifier.review import Look, nodes_told

SCHEDULED = "Scheduled Event"
"""The detail-type of what a rule's schedule sends."""
# The two events of a fault come within a second: hyperpod-mental-model.md. The log of events may
# know them later, and be throttled meanwhile: each wait is twice as long as the one before.
_FIRST_WAIT_SECONDS = 5.0
_LATELY_SECONDS = 15 * 60
_LONGEST_SUBJECT = 100  # https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
_LONGEST_LOOK = 100  # events
_ABSENT = frozenset({"ValidationException"})

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 3}, connect_timeout=2, read_timeout=7
)
# A look at the cluster ends at an API that does not answer, and one at node groups does: both have
# to do so within LONGEST_RUN_SECONDS.
_EKS_CONFIG = _CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 2}))
_log = logging.getLogger(__name__)
_log.setLevel(logging.INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Tells a topic of what happens to a cluster.

    `patience` is how many seconds nodes may be missing or faulty before that is told; each of the
    EKS node groups comes with its EKS cluster. `health_logs` is how the name of the log group
    begins in which the nodes' faults are that no event tells of: those of Slurm.
    """

    sagemaker: AwsClient
    eks: AwsClient
    dynamodb: AwsClient
    sns: AwsClient
    logs: AwsClient
    cluster: str
    table: str
    topic_arn: str
    patience: float
    node_groups: Sequence[tuple[str, str]] = ()
    health_logs: str = ""
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def handle(self, event: Event) -> None:
        """Tell what an event of HyperPod says, or what a look at the cluster finds.

        Raises:
            ClientError: AWS refused something.
            BotoCoreError: AWS did not answer.
        """
        if event["detail-type"] == SCHEDULED:
            self._look()
            return
        described = self._described()
        if described is None:
            return
        memory = self._memory(described["ClusterArn"])
        finding = finding_of(event)
        if finding is None or finding.cluster_arn != described["ClusterArn"]:
            return
        if finding.what is What.HEALTHY and finding.instance is not None:
            memory.over(fault_of_node(finding.instance), at=finding.time)
            return
        if finding.what is What.STATUS and finding.status == ClusterStatus.IN_SERVICE:
            for fault in filter(is_of_status, memory.known()):
                memory.over(fault, at=finding.time)
            return
        self._tell([finding], described, memory)

    def _memory(self, arn: str) -> Memory:
        return Memory(dynamodb=self.dynamodb, table=self.table, cluster_arn=arn, clock=self.clock)

    def _look(self) -> None:
        """Tell what no event says: of the cluster, then of each node group.

        What fails for one of them does so after a look at the others, so that each is looked at and
        the alarm comes all the same.
        """
        began = self.clock()
        looks: Sequence[tuple[str, Callable[..., None]]] = [
            (self.cluster, self._look_at_cluster),
            *(
                (name, partial(self._look_at_node_group, eks_cluster, name))
                for eks_cluster, name in self.node_groups
            ),
            *([(self.health_logs, self._look_at_health_logs)] if self.health_logs else []),
        ]
        failures: list[Exception] = []
        for name, look in looks:
            try:
                look(began=began)
            except AWS_ERRORS as error:
                _log.warning("Nothing is known of %s: %s", name, error)
                failures.append(error)
                # An API that does not answer for one group does not for the next one.
                if isinstance(error, BotoCoreError) and look != self._look_at_cluster:
                    break
        if failures:
            raise failures[0]

    def _look_at_node_group(self, eks_cluster: str, name: str, *, began: float) -> None:
        """Tell what is wrong with an EKS node group, of which no event says anything."""
        answer = _or_none(self.eks.describe_nodegroup, clusterName=eks_cluster, nodegroupName=name)
        if answer is None:
            return
        arn = answer["nodegroup"]["nodegroupArn"]
        said = of_node_group(answer["nodegroup"], cluster=self.cluster)
        if said is None:
            return
        memory = self._memory(arn)
        messages = {each.fault: each for each in said}
        for fault in {*memory.known()} - {*messages}:
            memory.over(fault, at=began)
        for message in messages.values():
            self._tell_once(message, memory, place=f"EKS node group {arn}", happened=began)

    def _look_at_health_logs(self, *, began: float) -> None:
        """Tell of the faults that nodes have written lately."""
        described = self._described()
        if described is None:
            return
        arn = described["ClusterArn"]
        pages = self.logs.get_paginator("filter_log_events").paginate(
            logGroupName=f"{self.health_logs}{arn.rpartition('/')[2]}",
            logStreamNamePrefix=HEALTH_STREAMS,
            filterPattern=HEALTH_EVENTS,
            startTime=int((began - _LATELY_SECONDS) * 1000),
        )
        records = or_none(lambda: [each for page in pages for each in page.get("events", ())])
        recovers = described.get("NodeRecovery") != "None"
        findings = (
            finding_of_record(record, cluster_arn=arn, recovers=recovers)
            for record in records or ()
        )
        self._tell(filter(None, findings), described, self._memory(arn))

    def _look_at_cluster(self, *, began: float) -> None:
        described = self._described()
        if described is None:
            return
        memory = self._memory(described["ClusterArn"])
        known = memory.known()
        found = Look(
            described=described,
            known=known,
            present=[node for node in nodes_told(known) if self._node(node) is not None],
            plan_ends=self._plan_ends(described),
            now=self.clock(),
            patience=self.patience,
        ).review()
        for fault in found.over:
            memory.over(fault, at=began)
        for fault in found.watched:
            memory.watch(fault)
        self._tell(found.findings, described, memory)

    def _tell(self, findings: Iterable[Finding], described: Described, memory: Memory) -> None:
        for finding in findings:
            said = self._said(finding, described, memory)
            if said is None:
                _log.info("Nothing to tell of: %s", finding)
                continue
            if finding.was_whole:
                # No event says that nodes are ready again. Losses in quick succession are one.
                memory.over(said.fault, at=finding.time - _LATELY_SECONDS)
            place = f"Cluster {described['ClusterName']}, {described['ClusterArn']}"
            self._tell_once(said, memory, place=place, happened=finding.time)

    def _tell_once(self, message: Message, memory: Memory, *, place: str, happened: float) -> None:
        if not memory.claim(message.fault, invocation=uuid4().hex, happened=happened):
            _log.info("Told before: %s", message.fault)
            return
        self._publish(message, place=place, happened=happened)
        memory.told(message.fault)
        _log.info("Told: %s", message.fault)

    def _said(self, finding: Finding, described: Described, memory: Memory) -> Message | None:
        """Return what to say of a finding, once its cause is known, or has not come."""
        now: Described | None = described
        for waits in range(MOST_WAITS + 1):
            # Another one of its name may be there by now, whose failures are its own.
            if now is None or now["ClusterArn"] != finding.cluster_arn:
                break
            explained = self._explained(replace(finding, waits=waits), now)
            said = decide(explained, now, told=memory.known())
            if not isinstance(said, Wait):
                return said
            self.sleep(_FIRST_WAIT_SECONDS * 2**waits)
            now = self._described()
        return None

    def _explained(self, finding: Finding, described: Described) -> Finding:
        """Return a finding with what AWS knows of it beyond the event."""
        if finding.what is What.READINESS:
            return replace(finding, changed_lately=self._changed_lately(finding))
        if finding.what is What.FAULTY and finding.instance is not None and not finding.group:
            node = self._node(finding.instance) or {}
            return replace(finding, group=node.get("InstanceGroupName"))
        if finding.event_id is None or cause_of(finding.text) is not UNKNOWN:
            return finding
        try:
            answer = self.sagemaker.describe_cluster_event(
                ClusterName=described["ClusterName"], EventId=finding.event_id
            )
        except ClientError as error:
            # Clusters without Continuous provisioning have no log of events, and it may be late.
            if not (_is_absent(error) or is_transient(error)):
                raise
            return finding
        return replace(finding, text=failure_message(answer) or finding.text)

    def _changed_lately(self, finding: Finding) -> bool:
        """Say whether nodes came or went, so that some were not ready for that."""
        listed = _or_none(
            self.sagemaker.list_cluster_events,
            ClusterName=self.cluster,
            EventTimeAfter=datetime.fromtimestamp(finding.time - _LATELY_SECONDS, tz=UTC),
            MaxResults=_LONGEST_LOOK,
        )
        return any(
            each["ResourceType"] != "Cluster"
            and "orchestration-ready" not in each.get("Description", "")
            for each in (listed or {}).get("Events", ())
        )

    def _described(self) -> Described | None:
        described = _or_none(self.sagemaker.describe_cluster, ClusterName=self.cluster)
        if described is None:
            _log.info("The cluster %s does not exist", self.cluster)
            return None
        # The answer need not have it.
        return {**described, "ClusterName": self.cluster}

    def _node(self, instance: str) -> Mapping[str, Any] | None:
        answer = _or_none(
            self.sagemaker.describe_cluster_node, ClusterName=self.cluster, NodeId=instance
        )
        return None if answer is None else answer["NodeDetails"]

    def _plan_ends(self, described: Described) -> dict[str, float]:
        groups = present_groups(described).values()
        ends = {}
        for arn in {group["TrainingPlanArn"] for group in groups if group.get("TrainingPlanArn")}:
            name = arn.rpartition("/")[2]
            try:
                plan = self.sagemaker.describe_training_plan(TrainingPlanName=name)
            except ClientError as error:
                # One that is gone, or that someone else gave the group. The rest is looked at.
                if not (_is_absent(error) or is_denied(error)):
                    raise
                _log.warning("Nothing is known of the training plan %s: %s", name, error)
                continue
            if plan.get("EndTime") is not None:
                ends[arn] = plan["EndTime"].timestamp()
        return ends

    def _publish(self, message: Message, *, place: str, happened: float) -> None:
        lines = [
            f"What happened: {message.happened}",
            f"When: {datetime.fromtimestamp(happened, tz=UTC):%Y-%m-%d %H:%M} UTC",
            f"What to do: {message.next_step}",
            f"To see more: {message.look}",
        ]
        attributes = {"kind": message.kind, "cause": message.cause, "group": message.group}
        self.sns.publish(
            TopicArn=self.topic_arn,
            Subject=message.subject[:_LONGEST_SUBJECT],
            MessageStructure="json",
            Message=json.dumps(
                {
                    "default": "\n\n".join([*lines, f"{place}."]),
                    # Amazon Q Developer in chat applications subscribes by HTTPS, and drops what
                    # has no such form.
                    # https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
                    "https": json.dumps(
                        {
                            "version": "1.0",
                            "source": "custom",
                            "content": {
                                "textType": "client-markdown",
                                "title": message.subject,
                                "description": "\n".join(lines),
                            },
                        }
                    ),
                }
            ),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                for name, value in attributes.items()
                if value
            },
        )


def _is_absent(error: ClientError) -> bool:
    return is_not_found(error) or code(error) in _ABSENT


def _or_none(call: Callable[..., Mapping[str, Any]], **asked: object) -> Mapping[str, Any] | None:
    return or_none(partial(call, **asked), absent=_ABSENT)


@cache
def _notifier() -> Notifier:
    """Return what serves this function's events, as its environment says."""
    session = boto3.Session()
    return Notifier(
        sagemaker=session.client("sagemaker", config=_CONFIG),
        eks=session.client("eks", config=_EKS_CONFIG),
        dynamodb=session.client("dynamodb", config=_CONFIG),
        sns=session.client("sns", config=_CONFIG),
        logs=session.client("logs", config=_CONFIG),
        cluster=os.environ["CLUSTER_NAME"],
        table=os.environ["TABLE_NAME"],
        topic_arn=os.environ["TOPIC_ARN"],
        patience=60 * float(os.environ["PATIENCE_MINUTES"]),
        health_logs=os.environ.get("HEALTH_LOGS", ""),
        node_groups=[tuple(each) for each in json.loads(os.environ.get("NODE_GROUPS", "[]"))],
    )


def notify(event: Event, _context: object) -> None:
    """Serve an event of HyperPod, or the schedule's."""
    _notifier().handle(event)
