"""What the lifecycle scripts of a node wrote, and how far they are."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import AwsClient, listed
from hyperpod_cli.operate.clusters import DescribedCluster
from hyperpod_cli.terminal.console import in_utc
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_not_found
from hyperpod_shared.clusters import log_group, log_stream

_STREAMS = "LifecycleConfig/"


def log_pages(
    logs: AwsClient, group: str, stream: str, *, token: str | None
) -> Iterator[dict[str, Any]]:
    """Yield pages of events of a log stream, from a token on, until there are no more for now."""
    asked = {"logGroupName": group, "logStreamName": stream, "startFromHead": True}
    while True:
        page = logs.get_log_events(**asked, **({"nextToken": token} if token else {}))
        yield page
        # The same token again says that the end is reached:
        # https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_GetLogEvents.html
        if page["nextForwardToken"] == token:
            return
        token = page["nextForwardToken"]


LogLine = tuple[str, str]
"""When CloudWatch got a line, in UTC, and the line."""


@dataclass(frozen=True, kw_only=True)
class LifecycleLog:
    """The log of the lifecycle scripts of one node."""

    logs: Any
    cluster: DescribedCluster
    instance: str
    instance_group: str

    @property
    def group(self) -> str:
        """Name of the log group."""
        return log_group(self.cluster.described)

    @property
    def stream(self) -> str:
        """Name of the log stream."""
        return log_stream(group=self.instance_group, instance=self.instance)

    def lines(
        self, *, say: Callable[[str], None], every_seconds: float | None = None
    ) -> Iterator[LogLine]:
        """Yield the lines that there are, oldest first; with a pause for looks, those that come.

        With that, it never ends, and a log that is not there yet may come: a node that is being
        launched has none. Without, it is refused.
        """
        token: str | None = None
        is_told = False
        while True:
            try:
                for page in log_pages(self.logs, self.group, self.stream, token=token):
                    token = page["nextForwardToken"]
                    yield from map(_line, page["events"])
            except ClientError as error:
                if not is_not_found(error):
                    raise
                if every_seconds is None:
                    raise OpsError(self._absent()) from None
                if not is_told:
                    say(f"There is no stream {self.stream} yet; waiting for it.")
                    is_told = True
            if every_seconds is None:
                return
            time.sleep(every_seconds)

    def _absent(self) -> str:
        return (
            f"logs: there is no stream {self.stream} in log group {self.group}; a node has one "
            "once its lifecycle scripts have begun: --follow waits for it; a node without scripts, "
            "as of Slurm, has /var/log/provision/provisioning.log, to be read on the node"
        )


def former_instance(
    logs: AwsClient,
    cluster: DescribedCluster,
    instance: str,
) -> LifecycleLog | None:
    """Return the log of an instance that is no node any more; None if it has none."""
    streams = listed(
        logs,
        "describe_log_streams",
        "logStreams",
        logGroupName=log_group(cluster.described),
        logStreamNamePrefix=_STREAMS,
    )
    try:
        for stream in streams:
            group, _, node = stream["logStreamName"].removeprefix(_STREAMS).partition("/")
            if node == instance:
                return LifecycleLog(logs=logs, cluster=cluster, instance=node, instance_group=group)
    except ClientError as error:
        if not is_not_found(error):
            raise
    return None


def _line(event: dict[str, Any]) -> LogLine:
    moment = datetime.fromtimestamp(event["timestamp"] / 1000, tz=UTC)
    return in_utc(moment), event["message"].rstrip("\n")


# The scripts of lifecycle/eks and lifecycle/slurm write all but the last two, which HyperPod itself
# does: awslabs/awsome-distributed-ai, hyperpod-mental-model.md.
_PROGRESS = {
    r"(?:^|Z )ERROR step (?P<step>[a-z_]+) failed": (
        "Step {step} failed, and the steps after it did not run."
    ),
    r"(?:^|Z )done: (?P<text>.*)": "The scripts are done: {text}.",
    r"(?:^|Z )\[(?P<step>[a-z_]+)\] (?P<text>.*)": (
        "The last step that wrote something is {step}: {text}"
    ),
    r"(?:^|Z )start: lifecycle scripts": (
        "The scripts have begun, and no step has written anything yet."
    ),
    r"\[SageMaker\] Downloading lifecycle scripts": "HyperPod downloads the scripts.",
    r"\[SageMaker\] The lifecycle scripts succeeded": "The scripts succeeded.",
}


def progress_of(lines: Iterable[str]) -> str:
    """Return what lifecycle scripts were doing when they wrote the last line, as a sentence.

    A log may hold several attempts; the last one counts.
    """
    sentence = "The log does not show what the scripts are doing."
    for line in lines:
        matches = ((re.search(pattern, line), words) for pattern, words in _PROGRESS.items())
        known = (words.format(**match.groupdict()) for match, words in matches if match)
        sentence = next(known, sentence)
    return sentence
