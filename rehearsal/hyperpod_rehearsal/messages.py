"""What a deployment tells of itself while it is rehearsed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from hyperpod_cli.aws.stacks import resources_of
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import comes_true

_SETTLES_SECONDS, _LONGEST_SECONDS = 2.0, 20.0
_FUNCTION = "NotificationsNotifier"


class Listener:
    """Hears what the deployment's topic is told from now on.

    What is heard of begins with a topic that is there, or with the deployment of all of it.
    """

    def __init__(self, stage: Stage, *, begins_deployed: bool = False) -> None:
        self._stage = stage
        self._begun = len([*_lines(stage)])
        self._listens = begins_deployed or self._function() is not None

    def heard(self) -> list[str]:
        """Return the kind and the cause of each message, or its subject, in their order."""
        return [
            ": ".join((message["attributes"]["kind"], message["attributes"].get("cause", "")))
            if "kind" in message["attributes"]
            else str(message["subject"])
            for message in [*_lines(self._stage)][self._begun :]
        ]

    def look(self) -> None:
        """Let the schedule come round, after all that has happened so far is on the bus."""
        function = self._function()
        if function is None:
            return
        self._stage.environment.bus.wait()
        event = {"detail-type": "Scheduled Event", "source": "aws.events", "detail": {}}
        answer = self._stage.environment.clients("lambda").invoke(
            FunctionName=function, Payload=json.dumps(event)
        )
        problem = answer.get("FunctionError")
        if problem is not None:
            raise RuntimeError(f"{function} failed: {answer['Payload'].read().decode()}")

    def judged(self, expected: tuple[str, ...]) -> Iterator[Fact]:
        """Yield the check that exactly these were told; if any, there must have been a topic."""
        if self._function() is None or (expected and not self._listens):
            return
        self.look()
        if comes_true(lambda: len(self.heard()) >= len(expected), longest_seconds=_LONGEST_SECONDS):
            time.sleep(_SETTLES_SECONDS)
        heard = sorted(self.heard())
        for message in heard:
            self._stage.progress.say(f"  message: {message}")
        what = "; ".join(sorted(expected)) or "nothing"
        others = "" if heard == sorted(expected) else f"messages: {'; '.join(heard) or 'nothing'}"
        yield Fact(title=f"the topic gets one message of each: {what}", ok=not others, found=others)

    def _function(self) -> str | None:
        """Return the function that tells; None if the deployment has none."""
        if self._stage.status("observability") is None:
            return None
        cloudformation = self._stage.environment.clients("cloudformation")
        names = (
            item.physical_id
            for item in resources_of(cloudformation, self._stage.stack("observability"))
            if item.type == "AWS::Lambda::Function" and item.logical_id.startswith(_FUNCTION)
        )
        return next(names, None)


def _lines(stage: Stage) -> Iterator[dict[str, Any]]:
    """Yield what topics were told."""
    file = stage.environment.messages_file
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)
