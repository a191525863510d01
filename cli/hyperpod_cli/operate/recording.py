"""Recording what the provisioner asks AWS and is answered: on, off, and into a file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import AwsClient, AwsSession, listed
from hyperpod_cli.aws.stacks import resources_of
from hyperpod_cli.terminal.atomic_file import replace_file
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_unknown_stack
from hyperpod_shared.recording import ENTRY_POINTS, RECORDED, VARIABLE

_HANDLERS = "provisioner.handler."
_WAIT = {"Delay": 1, "MaxAttempts": 300}
_MESSAGES = (RECORDED, *ENTRY_POINTS)
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
_PATTERN = "{ " + " || ".join(f'($.message = "{message}")' for message in _MESSAGES) + " }"


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The recording of a deployment's provisioner.

    Attributes:
        platform: Name of the stack that has its functions.
    """

    session: AwsSession
    platform: str

    def switch(self, *, on: bool) -> list[str]:
        """Let the functions record, or not; return the names of those that did otherwise.

        Nothing else in their environment changes. ClientError: one was changed meanwhile.
        """
        changed = []
        client = self.session.writing_client("lambda")
        for function in self._functions():
            name, environment = function["FunctionName"], function.get("Environment", {})
            if "Error" in environment:  # to write it without the rest would be worse than nothing
                raise OpsError(
                    f"{name}: its environment cannot be read: {environment['Error']['Message']}; "
                    "take a role that may kms:Decrypt with the deployment's key"
                )
            variables = dict(environment.get("Variables", {}))
            if (VARIABLE in variables) != on:
                client.update_function_configuration(
                    FunctionName=name,
                    RevisionId=function["RevisionId"],
                    Environment={
                        "Variables": {**variables, VARIABLE: "true"}
                        if on
                        else {key: variables[key] for key in variables if key != VARIABLE}
                    },
                )
                client.get_waiter("function_updated").wait(FunctionName=name, WaiterConfig=_WAIT)
                changed.append(name)
        return changed

    def save(self, path: Path, *, since: datetime) -> int:
        """Write what was recorded into a file, a line of JSON each; return how many calls it has.

        The lines with which the functions begin say for whom calls were. OpsError: there are none.
        """
        logs = self.session.client("logs")
        groups = [function["LoggingConfig"]["LogGroup"] for function in self._functions()]
        lines = sorted(
            (line for group in groups for line in _lines(logs, group, since=since)),
            key=lambda line: str(line["at"]),
        )
        count = len([line for line in lines if line["message"] == RECORDED])
        if not count:
            raise OpsError(
                f"record: {', '.join(groups)} have no recorded call since {since:%Y-%m-%dT%H:%MZ}; "
                "run `hyperpod-cdk record on`, deploy a change, and get it then"
            )
        try:
            replace_file(path, "".join(f"{json.dumps(line)}\n" for line in lines))
        except OSError as error:
            raise OpsError(f"{path}: cannot be written ({error.strerror}); name another") from None
        return count

    def _functions(self) -> Sequence[Mapping[str, Any]]:
        client = self.session.client("lambda")
        try:
            resources = [*resources_of(self.session.client("cloudformation"), self.platform)]
        except ClientError as error:
            if not is_unknown_stack(error):
                raise
            raise OpsError(
                f"stack: {self.platform} is not deployed in {self.session.region}; run "
                "`hyperpod-cdk deploy`, or give another region"
            ) from None
        functions = (
            client.get_function_configuration(FunctionName=each.physical_id)
            for each in resources
            if each.type == "AWS::Lambda::Function"
        )
        return [each for each in functions if each["Handler"].startswith(_HANDLERS)]


def _lines(logs: AwsClient, group: str, *, since: datetime) -> Iterator[Mapping[str, Any]]:
    asked = {"logGroupName": group, "startTime": int(since.timestamp() * 1000)}
    for event in listed(logs, "filter_log_events", "events", filterPattern=_PATTERN, **asked):
        try:
            line = json.loads(event["message"])
        except json.JSONDecodeError:
            continue  # Lambda's own, or cut off
        if isinstance(line, dict) and line.get("message") in _MESSAGES:
            written = datetime.fromtimestamp(event["timestamp"] / 1000, tz=since.tzinfo)
            yield {"at": str(written), "stream": event["logStreamName"], **line}
