"""A recording of AWS, replayed on the model of HyperPod: where the model answers otherwise.

What nobody documents, as how long an update takes, is measured first and given to the model; what
is left are differences in what happens. `hyperpod-cdk record` writes recordings (CONTRIBUTING.md).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_shared.aws_errors import code, is_not_found, is_throttled
from hyperpod_shared.recording import RECORDED
from tests.provisioner.histories.clusters import Change, Conduct
from tests.provisioner.histories.sagemaker import SageMaker
from tests.provisioner.histories.world import Faults, Past, World

_CHANGES = ("CreateCluster", "UpdateCluster", "UpdateClusterSoftware", "DeleteCluster")
_TAGS = ("AddTags", "DeleteTags")
_OF_GROUPS = ("TargetCount", "CurrentCount", "Status", "SoftwareUpdateStatus")
_SETTLED = ("InService", "Failed")
# What is older is no read that lags, but something that did not happen.
_LONGEST_LAG = 300.0
_NEVER = 1e9
_INSTANT = 0.001
"""By how much something happens before it is seen."""
View = Mapping[str, object]
"""What is compared of an answer; empty if there is no cluster."""


class RecordingError(Exception):
    """A file is no recording."""


class _TakenError(Exception):
    """The model would take a call."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of AWS, as it was recorded; `error` is None if it was answered."""

    at: float
    service: str
    operation: str
    parameters: Mapping[str, Any]
    answer: Mapping[str, Any]
    error: ClientError | None

    @property
    def is_taken(self) -> bool:
        """Whether it may have had its effect: an answer that is lost says nothing of it."""
        return self.error is None or not code(self.error)

    def view(self) -> View:
        """Return what a DescribeCluster showed."""
        return _view(self.answer if self.error is None else None)


def read(path: Path) -> list[Call]:
    """Return the calls of a recording, in the order in which they were made."""
    calls = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            if line["message"] != RECORDED:
                continue
            error = line.get("error")
            call = Call(
                at=datetime.fromisoformat(line["at"]).timestamp(),
                service=line["service"],
                operation=line["operation"],
                parameters=line["parameters"],
                answer=line.get("answer", {}),
                error=None if error is None else ClientError({"Error": error}, line["operation"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingError(
                f"{path}:{number}: is no line of `hyperpod-cdk record get`: {error!r}"
            ) from error
        calls.append(call)
    if not any(call.service == "sagemaker" for call in calls):
        raise RecordingError(f"{path}: has no call of SageMaker; record a deployment of a cluster")
    return sorted(calls, key=lambda call: call.at)


def replayed(calls: Sequence[Call]) -> Iterator[str]:
    """Yield where the model differs, a line each, and then what was measured."""
    ours = [call for call in calls if call.service == "sagemaker"]
    replay = _Replay(calls=ours)
    for call in ours:
        yield from replay.play(call)
    yield f"{replay.compared} answers compared, {replay.differences} of them differ"
    yield from (f"measured: {text}" for text in replay.measured)
    for operation, lag in replay.lags.items():
        yield f"measured: {operation} lagged by at most {lag:.0f} s"
    late = _late_events([call for call in calls if call.operation == "DescribeStackEvents"])
    yield f"measured: events of CloudFormation were missing for at most {late:.0f} s"
    yield f"measured: busy clusters {_of_tags(ours)}"
    yield f"measured: groups left out of UpdateCluster {_of_groups_left_out(ours)}"


@dataclass(kw_only=True)
class _Replay:
    calls: Sequence[Call]
    compared: int = 0
    differences: int = 0
    measured: list[str] = field(default_factory=list)
    lags: dict[str, float] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = World(seed=0, faults=Faults(), now=self.calls[0].at)
        self.conduct = Conduct(refuses_tags="refuse" in _of_tags(self.calls))
        self.model = SageMaker(world=self.world, conduct=self.conduct)

    def play(self, call: Call) -> Iterator[str]:
        """Let a call happen, or be compared; yield the difference, if there is one."""
        self.world.sleep(call.at - self.world.now)
        with self.world.invoked("recorded", None):
            if call.operation in (*_CHANGES, *_TAGS):
                yield from self._change(call)
            elif call.operation == "DescribeCluster" and (call.is_taken or _is_absent(call)):
                name = call.parameters["ClusterName"]
                if name not in self.model.shown and call.error is None:
                    self._take_over(call)
                yield from self._compare(call, self.model.shown.get(name), call.view())
            elif call.operation == "ListTags" and call.error is None:
                arn = call.parameters["ResourceArn"]
                for cluster in self.model.clusters.values():
                    if cluster.arn == arn:
                        tags = {tag["Key"]: tag["Value"] for tag in call.answer["Tags"]}
                        if not cluster.tags.values:  # it was there before
                            cluster.tags.put(call.at, tags)
                        yield from self._compare(call, cluster.tags, tags)

    def _change(self, call: Call) -> Iterator[str]:
        """Let the model take a call that AWS took, and say whether it would take others."""
        if call.error is not None and is_throttled(call.error):
            return
        refusal = self._asked(call, only_ask=not call.is_taken)
        is_alike = (refusal is None) == call.is_taken
        if is_alike and (refusal is None or code(refusal) == code(call.error or refusal)):
            return
        yield self._line(call, _outcome(call.error), _outcome(refusal))
        name = call.parameters.get("ClusterName")
        if call.is_taken and name in self.model.clusters:
            self.model.clusters[name].status = "InService"
            self._asked(call, only_ask=False)

    def _asked(self, call: Call, *, only_ask: bool) -> ClientError | None:
        """Make a call of the model, as it is recorded; return why the model refuses it."""
        method = "".join(f"_{char.lower()}" if char.isupper() else char for char in call.operation)
        effect = getattr(SageMaker, method.strip("_")).__wrapped__
        if not only_ask:
            self._measure(call)
        self.model.on_change = _refuse_change if only_ask else lambda _change: None
        parameters = {"Tags": [], **call.parameters}
        if call.operation in {"DeleteCluster", "DeleteTags"}:
            del parameters["Tags"]
        try:
            effect(self.model, **parameters)
        except _TakenError:
            return None
        except ClientError as error:
            return error
        if call.operation == "CreateCluster" and "ClusterArn" in call.answer:
            self.model.clusters[call.parameters["ClusterName"]].arn = call.answer["ClusterArn"]
        return None

    def _measure(self, call: Call) -> None:
        """Give the model the times that AWS took for a call, by what it showed until the next."""
        views = [(one.at, one.view()) for one in _looks_after(self.calls, call)]
        if call.operation == "DeleteCluster":
            ends = [at for at, view in views if not view]
            self.conduct.delete_seconds = self._took(call, ends)
        elif call.operation == "CreateCluster":
            there = [(at, view) for at, view in views if view.get("ClusterStatus") in _SETTLED]
            self.conduct.create_seconds = self._took(call, [at for at, _ in there])
            if there and there[0][1]["ClusterStatus"] == "Failed":
                self.conduct.failing_creations = (self.model.numbers.get("creations", 0),)
            full = [at for at, view in there if _is_settled(view)]
            self.conduct.update_seconds = max(full[0] - there[0][0], 0.0) if full else _NEVER
        elif call.operation in _CHANGES:
            busy = [at for at, view in views if not _is_settled(view)]
            back = [at for at, view in views if view.get("ClusterStatus") == "RollingBack"]
            done = [at for at, view in views if _is_settled(view) and at > min(busy, default=0.0)]
            seconds = self._took(call, back or done)
            if call.operation == "UpdateCluster":
                self.conduct.update_seconds = seconds
                shown = [at for at, view in views if view.get("ClusterStatus") == "Updating"]
                later = [at for at, _ in views if at > max(shown, default=_NEVER)]
                self.conduct.shows_updating = later[0] - call.at - _INSTANT if later else 0.0
                if back:
                    self.conduct.failing_updates = (self.model.numbers.get("updates", 0),)
            else:
                self.conduct.patch_seconds = seconds
                if any("Failed" in (view[key] for key in view) for _, view in views):
                    self.conduct.failing_patches = (self.model.numbers.get("patches", 0),)

    def _took(self, call: Call, ends: Sequence[float]) -> float:
        if not ends:
            self.measured.append(f"{call.operation} of {_time(call.at)} was not seen to end")
            return _NEVER
        seconds = ends[0] - call.at
        self.measured.append(f"{call.operation} of {_time(call.at)} took {seconds:.0f} s")
        return seconds - _INSTANT

    def _take_over(self, call: Call) -> None:
        """Let the model have a cluster that was there before, as AWS showed it."""
        described, shown = call.answer, call.answer["InstanceGroups"]
        groups = [{**group, "InstanceCount": group["TargetCount"]} for group in shown]
        self.conduct.create_seconds = self.conduct.update_seconds = 0.0
        request = {**described, "InstanceGroups": groups, "Tags": []}
        SageMaker.create_cluster.__wrapped__(self.model, **request)  # type: ignore[attr-defined]
        self.world.sleep(_INSTANT)
        cluster = self.model.clusters[described["ClusterName"]]
        cluster.arn, cluster.tags = described["ClusterArn"], Past()
        for group in shown:
            ours = cluster.groups[group["InstanceGroupName"]]
            ours.current, ours.software = group["CurrentCount"], group.get("SoftwareUpdateStatus")
        self.model._changed(cluster)

    def _compare(self, call: Call, past: Past | None, seen: View) -> Iterator[str]:
        """Say how an answer differs from the model's, now and as it was a little before."""
        if past is None:
            return
        self.compared += 1
        describes = call.operation == "DescribeCluster"
        ends = [*(since for since, _ in past.values[1:]), call.at]
        for (_, value), until in reversed([*zip(past.values, ends, strict=True)]):
            lag = call.at - until
            if lag <= _LONGEST_LAG and (_view(value) if describes else value) == seen:
                self.lags[call.operation] = max(lag, self.lags.get(call.operation, 0.0))
                self.said.pop(call.operation, None)
                return
        value = past.values[-1][1]
        ours = _view(value) if describes else value
        keys = sorted(key for key in {*seen, *ours} if seen.get(key) != ours.get(key))
        yield from self._once(call, _words(seen, keys), _words(ours, keys))

    def _once(self, call: Call, aws: str, model: str) -> Iterator[str]:
        """Yield a difference unless it is the one that was yielded last."""
        line = self._line(call, aws, model)
        if self.said.get(call.operation) != f"{aws}; {model}":
            yield line
        self.said[call.operation] = f"{aws}; {model}"

    def _line(self, call: Call, aws: str, model: str) -> str:
        self.differences += 1
        return f"{_time(call.at)} {call.operation}: AWS {aws}; the model {model}"


def _refuse_change(_change: Change) -> None:
    raise _TakenError


def _view(described: Mapping[str, Any] | None) -> View:
    if described is None:
        return {}
    groups = described.get("InstanceGroups", ())
    return {
        "ClusterStatus": described["ClusterStatus"],
        **{
            f"{group['InstanceGroupName']}.{key}": group[key]
            for group in groups
            for key in _OF_GROUPS
            if key in group
        },
    }


def _is_settled(view: View) -> bool:
    short = any(
        view[key] != view.get(key.replace("Current", "Target"))
        for key in view
        if key.endswith(".CurrentCount")
    )
    return view.get("ClusterStatus") in _SETTLED and not short and "InProgress" not in view.values()


def _is_absent(call: Call) -> bool:
    return call.error is not None and is_not_found(call.error)


def _looks_after(calls: Iterable[Call], change: Call) -> Iterator[Call]:
    """Yield the descriptions between a call and the next one that changes something."""
    for call in calls:
        if call.at > change.at:
            if call.operation in _CHANGES and call.is_taken:
                return
            if call.operation == "DescribeCluster" and (call.error is None or _is_absent(call)):
                yield call


def _looks_before(calls: Iterable[Call], change: Call) -> View:
    looks = (one for one in calls if one.at < change.at and one.operation == "DescribeCluster")
    return next(reversed([one.view() for one in looks if one.error is None]), {})


def _of_tags(calls: Sequence[Call]) -> str:
    """Say what AddTags answered while the cluster was not settled."""
    answers = {
        call.is_taken
        for call in calls
        if call.operation in _TAGS
        and _looks_before(calls, call).get("ClusterStatus", "InService") not in _SETTLED
        and not (call.error is not None and is_throttled(call.error))
    }
    words = {True: "take tags", False: "refuse tags"}
    return " and ".join(words[each] for each in sorted(answers)) or "were not given tags"


def _of_groups_left_out(calls: Sequence[Call]) -> str:
    answers = set()
    for call in calls:
        if call.operation == "UpdateCluster" and call.is_taken:
            named = {
                spec["InstanceGroupName"] for spec in call.parameters.get("InstanceGroups", ())
            }
            named |= {*call.parameters.get("InstanceGroupsToDelete", ())}
            left = _groups(_looks_before(calls, call)) - named
            after = [_groups(look.view()) for look in _looks_after(calls, call)][-1:]
            answers |= {"are kept" if left <= found else "are gone" for found in after if left}
    return " and ".join(sorted(answers)) or "were not tried"


def _groups(view: View) -> set[str]:
    return {key.rpartition(".")[0] for key in view if "." in key}


def _late_events(calls: Sequence[Call]) -> float:
    """Return for how long an event was missing in answers that should have had it."""
    late, seen = 0.0, set[str]()
    pages = [call for call in calls if call.error is None and "NextToken" not in call.parameters]
    for before, call in pairwise(pages):
        seen |= {event["EventId"] for event in before.answer["StackEvents"]}
        if before.parameters["StackName"] == call.parameters["StackName"]:
            new = [one for one in call.answer["StackEvents"] if one["EventId"] not in seen]
            times = (datetime.fromisoformat(one["Timestamp"]).timestamp() for one in new)
            late = max([late, *(before.at - at for at in times)])
    return late


def _outcome(error: ClientError | None) -> str:
    if error is None:
        return "takes it"
    return f"refuses it: {code(error) or 'no answer'}, {error.response['Error'].get('Message', '')}"


def _words(view: View, keys: Sequence[str]) -> str:
    shown = ", ".join(f"{key}={view.get(key, '-')}" for key in keys)
    return f"shows {shown}" if view else "shows nothing"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
