"""HyperPod as its documents describe it, under virtual time.

Written from botocore's model of SageMaker and the HyperPod pages of SageMaker's developer guide:
an update of a classic cluster comes true as a whole or is taken back; a cluster in Continuous mode
takes an update at once and brings nodes one by one; a cluster that is busy refuses calls; a patch
wipes root volumes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.provisioner.histories import slurm
from tests.provisioner.histories.clusters import (
    DEFAULT_AMI,
    FIRST_RELEASE,
    OPERATOR,
    SERVICE,
    Change,
    Cluster,
    Conduct,
    Group,
)
from tests.provisioner.histories.world import STARTS_AT, Past, World, called
from tests.support.provisioner.fake_s3 import client_error

_ACCOUNT = "arn:aws:sagemaker:us-west-2:111122223333:cluster"
_SPEC_ONLY = frozenset({"InstanceCount", "MinInstanceCount", "ImageId", "ImageReleaseVersion"})


def _garbage(described: dict[str, Any]) -> dict[str, Any]:
    """Return a description without its status, or without its groups."""
    if described["ClusterStatus"] == "InService":
        return {**described, "InstanceGroups": None}
    return {key: value for key, value in described.items() if key != "ClusterStatus"}


@dataclass(kw_only=True)
class SageMaker:
    """The service. Its methods that are not underlined are boto3's, or an operator's.

    Attributes:
        on_change: Told of each call that changes a cluster, before it does.
        hands: When an operator changed each group last; of the cluster itself under no name.
    """

    world: World
    conduct: Conduct
    on_change: Callable[[Change], None] = lambda _change: None
    clusters: dict[str, Cluster] = field(default_factory=dict)
    shown: dict[str, Past] = field(default_factory=dict)
    described_at: dict[str, float] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    hands: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for seconds in self.conduct.system_updates:
            self.world.after(seconds, self._update_system)

    # What boto3's client has.

    @called("sagemaker", garble=_garbage)
    def describe_cluster(self, *, ClusterName: str) -> dict[str, Any]:
        at = self.world.now - self.world.lag(self.world.faults.describe_lag)
        if not self.world.faults.turns_back:
            at = max(at, self.described_at.get(ClusterName, 0.0))
        past = self.shown.get(ClusterName)
        described = past.read(at) if past else None
        if described is None:
            raise _not_found("DescribeCluster", ClusterName)
        self.described_at[ClusterName] = at
        found: dict[str, Any] = described
        return found

    @called("sagemaker")
    def list_tags(self, *, ResourceArn: str) -> dict[str, Any]:
        at = self.world.now - self.world.lag(self.world.faults.describe_lag)
        tags = self._by_arn("ListTags", ResourceArn).tags.read(at) or {}
        return {"Tags": [{"Key": key, "Value": tags[key]} for key in tags]}

    @called("sagemaker")
    def add_tags(self, *, ResourceArn: str, Tags: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        added = {tag["Key"]: tag["Value"] for tag in Tags}
        cluster = self._by_arn("AddTags", ResourceArn)
        if self.conduct.refuses_tags and cluster.status not in {"InService", "Failed"}:
            raise client_error("ConflictException", "AddTags", "The cluster is being updated")
        self._tell("AddTags", cluster, added)
        cluster.tags.put(self.world.now, cluster.true_tags() | added)
        return {}

    @called("sagemaker")
    def list_cluster_events(self, *, ClusterName: str, **request: Any) -> dict[str, Any]:
        since = request.get("EventTimeAfter", 0.0)
        events = self._present("ListClusterEvents", ClusterName).events
        return {"Events": [one for one in reversed(events) if one["At"] >= since]}

    @called("sagemaker")
    def describe_cluster_event(self, *, ClusterName: str, EventId: str) -> dict[str, Any]:
        events = self._present("DescribeClusterEvent", ClusterName).events
        message = f"We currently do not have sufficient capacity. ({EventId})"
        metadata = {"InstanceGroupScaling": {"FailureMessage": message}}
        if any(one["EventId"] == EventId and not one["InstanceGroupName"] for one in events):
            message = "The accounting database did not accept the credentials."
            metadata = {"DatabaseConfiguration": {"FailureMessage": message}}
        return {"EventDetails": {"EventDetails": {"EventMetadata": metadata}}}

    @called("sagemaker")
    def list_compute_quotas(self, **_request: object) -> dict[str, Any]:
        return {"ComputeQuotaSummaries": []}

    @called("sagemaker")
    def list_cluster_scheduler_configs(self, **_request: object) -> dict[str, Any]:
        return {"ClusterSchedulerConfigSummaries": []}

    # What an operator does by hand; a cluster that is busy refuses it.

    def by_hand(self, action: str, name: str, group: str, count: int) -> None:
        """Let an operator change something with the console; refused calls change nothing."""
        cluster = self.clusters.get(name)
        if self.world.calm or cluster is None or cluster.status != "InService":
            return
        present = cluster.present
        if action == "edit slurm.conf":
            self.world.note(OPERATOR, "edits slurm.conf")
            cluster.drifted = True
        elif action == "delete cluster":
            self.world.note(OPERATOR, "deletes the cluster")
            self.hands[""] = self.world.now
            self._begin_deletion(cluster)
        elif action == "scale" and group in present:
            self.world.note(OPERATOR, "scales group %s to %d", group, count)
            self._apply(cluster, [_spec(group, count, present[group])], [], by=OPERATOR)
        elif action == "add" and group not in {*cluster.groups, *self.removed}:
            self.world.note(OPERATOR, "adds group %s with %d nodes", group, count)
            workers = (one for one in present.values() if not slurm.leads(one.spec))
            like = next(workers, None)
            if like is not None:
                self._apply(cluster, [_spec(group, count, like)], [], by=OPERATOR)
        elif action == "remove" and group in present and len(present) > 1:
            self.world.note(OPERATOR, "deletes group %s", group)
            self._apply(cluster, [], [group], by=OPERATOR)
        elif action == "patch" and group in present and present[group].software != "InProgress":
            self.world.note(OPERATOR, "patches group %s", group)
            self.hands[group] = self.world.now
            self._begin_patch(cluster, {group: {}}, image=None, by=OPERATOR)

    # What it does.

    def _present(self, operation: str, name: str) -> Cluster:
        if name not in self.clusters:
            raise _not_found(operation, name)
        return self.clusters[name]

    def _by_arn(self, operation: str, arn: str) -> Cluster:
        for cluster in self.clusters.values():
            if cluster.arn == arn:
                return cluster
        raise _not_found(operation, arn)

    def _tell(self, operation: str, cluster: Cluster, request: Mapping[str, Any]) -> object:
        """Tell of a call that is going to change a cluster, and return whose it is."""
        invocation = self.world.invocation
        self.on_change(
            Change(
                operation=operation,
                request=invocation.request,
                begun_at=invocation.begun_at,
                cluster=cluster,
                input=request,
            )
        )
        return invocation.request

    def _changed(self, cluster: Cluster) -> None:
        """Show a cluster as it is now, to reads that do not lag."""
        if self.clusters.get(cluster.name, cluster) is not cluster:
            return  # it is long gone, and another one has its name
        described = {
            "ClusterName": cluster.name,
            "ClusterArn": cluster.arn,
            "ClusterStatus": cluster.status,
            "CreationTime": cluster.created_at,
            **{
                key: value
                for key, value in cluster.request.items()
                if key in {"VpcConfig", "Orchestrator", "NodeProvisioningMode"}
            },
            **slurm.described(cluster, self.conduct),
            "NodeRecovery": cluster.recovery,
            "InstanceGroups": [group.as_described() for group in cluster.groups.values()],
        }
        if cluster.status == "Failed":
            described["FailureMessage"] = "Lifecycle scripts did not run successfully."
        elif cluster.complaint:
            described["FailureMessage"] = cluster.complaint
        past = self.shown.setdefault(cluster.name, Past())
        gone = self.clusters.get(cluster.name) is not cluster
        past.put(self.world.now, None if gone else described)

    def _next(self, kind: str) -> int:
        number = self.numbers.get(kind, 0)
        self.numbers[kind] = number + 1
        return number

    def _busy(self, cluster: Cluster, status: str, *, by: object = SERVICE) -> None:
        cluster.status, cluster.busy_for = status, by

    @called("sagemaker")
    def create_cluster(self, **request: Any) -> dict[str, Any]:
        name = request["ClusterName"]
        if name in self.clusters:
            raise client_error("ResourceInUse", "CreateCluster", f"Cluster {name} already exists")
        slurm.refuse("CreateCluster", request, request["InstanceGroups"], mode=request)
        number = self._next("clusters")
        cluster = Cluster(
            name=name,
            arn=f"{_ACCOUNT}/cluster{number}",
            request=request,
            created_by=None,
            created_at=datetime.fromtimestamp(self.world.now, tz=UTC),
            recovery=request.get("NodeRecovery", "Automatic"),
            slurm=slurm.asked(request),
        )
        by = cluster.created_by = self._tell("CreateCluster", cluster, request)
        self.world.note(self._who(), "CreateCluster %s", name)
        cluster.tags.put(self.world.now, {tag["Key"]: tag["Value"] for tag in request["Tags"]})
        self.clusters[name] = cluster
        for spec in request["InstanceGroups"]:
            cluster.groups[spec["InstanceGroupName"]] = self._new_group(spec, by)
        self._busy(cluster, "Creating")
        fails = self._next("creations") in self.conduct.failing_creations
        self._changed(cluster)
        self.world.after(self.conduct.create_seconds, lambda: self._created(cluster, fails=fails))
        return {"ClusterArn": cluster.arn}

    def _created(self, cluster: Cluster, *, fails: bool) -> None:
        cluster.status = "Failed" if fails else "InService"
        cluster.worked = not fails
        if fails and cluster.slurm is not None:  # a controller takes the others with it
            for name, group in cluster.groups.items():
                group.status = "Failed"
                self._report(cluster, name, again=False)
        self.world.note("HyperPod", "the cluster is %s", cluster.status)
        if not fails:
            if cluster.continuous:
                self.world.after(self.conduct.update_seconds, lambda: self._bring_nodes(cluster))
            else:
                self._fill(cluster)
        self._changed(cluster)

    def _new_group(self, spec: Mapping[str, Any], by: object) -> Group:
        return Group(
            spec={key: value for key, value in spec.items() if key not in _SPEC_ONLY},
            target=spec["InstanceCount"],
            current=0,
            release=spec.get("ImageReleaseVersion", FIRST_RELEASE),
            image=spec.get("ImageId", DEFAULT_AMI),
            added_by=by,
            counted_by=by,
            counted_at=self.world.now,
            added_at=self.world.now,
            imaged_by=by,
        )

    def _who(self) -> str:
        return self.world.invocation.who

    @called("sagemaker")
    def update_cluster(self, **request: Any) -> dict[str, Any]:
        cluster = self._settled("UpdateCluster", request["ClusterName"])
        specs, removed = (
            request.get("InstanceGroups", ()),
            request.get("InstanceGroupsToDelete", ()),
        )
        present = cluster.present.keys()
        for name in removed:
            being_removed = name in cluster.groups and self.conduct.removes_again
            if name not in present and not being_removed:
                raise _invalid("UpdateCluster", f"Instance group {name} does not exist")
        for spec in specs:
            group = cluster.groups.get(spec["InstanceGroupName"])
            if group and group.deleting:
                raise _invalid("UpdateCluster", "The instance group is being deleted")
            if group and spec["InstanceType"] != group.spec["InstanceType"]:
                raise _invalid("UpdateCluster", "InstanceType of a group cannot be changed")
            if group and slurm.node_type(spec) != slurm.node_type(group.spec):
                raise _invalid("UpdateCluster", "NodeType of a group cannot be changed")
        kept = present - {*removed, *(spec["InstanceGroupName"] for spec in specs)}
        after = [*specs, *(cluster.groups[name].spec for name in kept)]
        slurm.refuse("UpdateCluster", request, after, mode=cluster.request, former=cluster.slurm)
        drifts = slurm.drifts(cluster, request, self.conduct)
        if drifts and self.conduct.drift != "taken back":
            code = "ConflictException" if self.conduct.drift == "conflict" else None
            self.world.note(self._who(), "UpdateCluster refused: %s", slurm.DRIFT)
            raise client_error(code or "ValidationException", "UpdateCluster", slurm.DRIFT)
        by = self._tell("UpdateCluster", cluster, request)
        counts = ", ".join(f"{s['InstanceGroupName']}={s['InstanceCount']}" for s in specs)
        self.world.note(
            self._who(),
            "UpdateCluster %s delete=%s recovery=%s",
            counts,
            list(removed),
            request.get("NodeRecovery"),
        )
        self._apply(
            cluster,
            specs,
            removed,
            by=by,
            recovery=request.get("NodeRecovery"),
            told=slurm.asked(request),
            drifts=drifts,
        )
        return {"ClusterArn": cluster.arn}

    def _settled(self, operation: str, name: str) -> Cluster:
        cluster = self._present(operation, name)
        if cluster.status not in {"InService", "Failed"}:
            message = f"Cluster {name} is currently {cluster.status}. Wait until it is InService."
            self.world.note(self._who(), "%s refused: %s", operation, cluster.status)
            raise client_error("ConflictException", operation, message)
        return cluster

    def _apply(
        self,
        cluster: Cluster,
        specs: Sequence[Mapping[str, Any]],
        removed: Sequence[str],
        *,
        by: object,
        recovery: str | None = None,
        told: Mapping[str, Any] | None = None,
        drifts: bool = False,
    ) -> None:
        self.removed |= set(removed)
        saved = {
            "recovery": cluster.recovery,
            "slurm": cluster.slurm,
            "specs": {name: group.spec for name, group in cluster.groups.items()},
            "groups": {
                name: (group.target, group.counted_by, group.counted_at, group.current)
                for name, group in cluster.groups.items()
            },
        }
        for spec in specs:
            name = spec["InstanceGroupName"]
            group = cluster.groups.get(name)
            if group is None:
                cluster.groups[name] = self._new_group(spec, by)
            elif group.target != spec["InstanceCount"]:
                group.target, group.counted_by = spec["InstanceCount"], by
                group.counted_at = self.world.now
            if group is not None:
                group.spec = {key: value for key, value in spec.items() if key not in _SPEC_ONLY}
            cluster.groups[name].named_by.append(by)
        for name in removed:
            cluster.groups[name].deleting = True
        cluster.recovery = recovery or cluster.recovery
        if cluster.continuous:
            self._look_at_database(cluster, told or {})
            self._apply_continuous(cluster)
        else:
            cluster.saved, cluster.complaint = saved, slurm.DRIFT if drifts else ""
            if told is not None:
                cluster.slurm = {**(cluster.slurm or {}), **told}
            fails = self._next("updates") in self.conduct.failing_updates and by != OPERATOR
            fails = fails or drifts
            if not fails and slurm.strategy_of(cluster) == "Overwrite":
                cluster.drifted = False
            self._busy(cluster, "Updating", by=by)
            self.world.after(
                self.conduct.update_seconds, lambda: self._updated(cluster, fails=fails)
            )
        if by == OPERATOR:
            self.hands |= dict.fromkeys(removed, self.world.now)
            self.hands |= {spec["InstanceGroupName"]: self.world.now for spec in specs}
        self._changed(cluster)

    def _look_at_database(self, cluster: Cluster, told: Mapping[str, Any]) -> None:
        """Use another accounting database, or report that it cannot be used."""
        before, asked = (cluster.slurm or {}).get(slurm.DATABASE), told.get(slurm.DATABASE)
        if asked in (None, before) or cluster.slurm is None:
            return
        was, will = cluster.slurm, {**cluster.slurm, slurm.DATABASE: asked}
        fails = asked["Endpoint"] in self.conduct.failing_databases
        if self.conduct.shows_early:
            cluster.slurm = will

        def look() -> None:
            if cluster.slurm not in (was, will):
                return  # another one is asked for by now
            cluster.slurm = was if fails else will
            if fails:
                self._report(cluster, None)
            self._changed(cluster)

        self.world.after(self.conduct.database_seconds, look)

    def _apply_continuous(self, cluster: Cluster) -> None:
        self.world.after(self.conduct.update_seconds, lambda: self._bring_nodes(cluster))
        if self.conduct.shows_updating:
            self._busy(cluster, "Updating")
            self.world.after(self.conduct.shows_updating, lambda: self._back_in_service(cluster))

    def _updated(self, cluster: Cluster, *, fails: bool) -> None:
        """End the update of a classic cluster, or take it back."""
        if fails:
            cluster.status, cluster.taken_back_from = "RollingBack", cluster.busy_for
            cluster.taken_back_at = self.world.now
            self.world.note("HyperPod", "takes the update back")
            self.world.after(30.0, lambda: self._taken_back(cluster))
        else:
            self._fill(cluster)
            cluster.taken_back_from = None
            self._back_in_service(cluster)
        self._changed(cluster)

    def _taken_back(self, cluster: Cluster) -> None:
        saved, cluster.saved = cluster.saved, None
        assert saved is not None
        cluster.recovery, cluster.slurm = saved["recovery"], saved["slurm"]
        for name in list(cluster.groups):
            if name not in saved["groups"]:
                del cluster.groups[name]
                continue
            group = cluster.groups[name]
            group.target, group.counted_by, group.counted_at, group.current = saved["groups"][name]
            group.spec = saved["specs"][name]
            group.deleting = False
        self._back_in_service(cluster)

    def _back_in_service(self, cluster: Cluster) -> None:
        cluster.status = "InService"
        self.world.note("HyperPod", "the cluster is InService")
        self._changed(cluster)

    def _bring_nodes(self, cluster: Cluster) -> None:
        """Bring a continuous cluster to its numbers, as far as there is capacity."""
        if cluster.status in {"Deleting", "Failed", "Creating"}:
            return
        self._fill(cluster)
        short = dict(self.conduct.short_of)
        for name, group in cluster.groups.items():
            if name in short and group.current < group.target:
                self._report(cluster, name)
        self._changed(cluster)

    def _fill(self, cluster: Cluster) -> None:
        short = dict(self.conduct.short_of)
        for name in list(cluster.groups):
            group = cluster.groups[name]
            if group.deleting:
                del cluster.groups[name]
            elif name in short and cluster.continuous:
                group.current = min(group.target, max(group.current, short[name]))
            else:
                group.current = group.target

    def _report(self, cluster: Cluster, name: str | None, *, again: bool = True) -> None:
        """Report a launch that failed; HyperPod says so twice, and tries again.

        Without a group, it is the accounting database.
        """
        for what in ("Failed to provision EC2 Instance", "Instance creation failed"):
            cluster.events.append(
                {
                    "EventId": f"event-{len(cluster.events)}",
                    "EventLevel": "Error",
                    "InstanceGroupName": name,
                    "InstanceId": f"i-{len(cluster.events):017x}",
                    "Description": f"{what} in Cluster {cluster.name} and InstanceGroup {name}",
                    "EventTime": datetime.fromtimestamp(self.world.now, tz=UTC),
                    "At": self.world.now,
                }
            )
        most = 40
        if name is not None and again and len(cluster.events) < most:
            self.world.after(60.0, lambda: self._retry(cluster, name))

    def _retry(self, cluster: Cluster, name: str) -> None:
        group = cluster.groups.get(name)
        if self.clusters.get(cluster.name) is not cluster or group is None:
            return
        if name not in dict(self.conduct.short_of):
            self._fill(cluster)
            self._changed(cluster)
        elif group.current < group.target:
            self._report(cluster, name)

    @called("sagemaker")
    def update_cluster_software(self, **request: Any) -> dict[str, Any]:
        operation = "UpdateClusterSoftware"
        cluster = self._settled(operation, request["ClusterName"])
        named = {one["InstanceGroupName"]: one for one in request["InstanceGroups"]}
        for name in named:
            group = cluster.groups.get(name)
            if group is None or group.deleting:
                raise _invalid(operation, f"Instance group {name} does not exist")
            if group.software == "InProgress":
                raise client_error(
                    "ConflictException", operation, "A software update is in progress"
                )
        by = self._tell(operation, cluster, request)
        self.world.note(
            self._who(), "UpdateClusterSoftware %s %s", sorted(named), request.get("ImageId", "")
        )
        self._begin_patch(cluster, named, image=request.get("ImageId"), by=by)
        return {"ClusterArn": cluster.arn}

    def _begin_patch(
        self,
        cluster: Cluster,
        named: Mapping[str, Mapping[str, str]],
        *,
        image: str | None,
        by: object,
    ) -> None:
        latest = f"2.0.{self._next('releases')}"
        fails = self._next("patches") in self.conduct.failing_patches
        for name, one in named.items():
            group = cluster.groups[name]
            group.patched_by.append(by)
            group.former_image = (group.release, group.image)
            group.software, group.imaged_by = "InProgress", by
            group.release = one.get("ImageReleaseVersion", latest)
            group.image = DEFAULT_AMI if image == "default" else image or group.image
        if not cluster.continuous:
            self._busy(cluster, "Updating", by=by)
        self._changed(cluster)
        self.world.after(
            self.conduct.patch_seconds,
            lambda: self._patched(cluster, list(named), fails=fails),
        )

    def _patched(self, cluster: Cluster, names: Sequence[str], *, fails: bool) -> None:
        for name in names:
            group = cluster.groups.get(name)
            if group is None or group.former_image is None:
                continue
            if fails:
                group.release, group.image = group.former_image
            group.software, group.former_image = "Failed" if fails else "Succeeded", None
        self.world.note("HyperPod", "the patch %s", "failed" if fails else "succeeded")
        if not cluster.continuous:
            self._back_in_service(cluster)
        self._changed(cluster)

    @called("sagemaker")
    def delete_cluster(self, *, ClusterName: str) -> dict[str, Any]:
        cluster = self._settled("DeleteCluster", ClusterName)
        self._tell("DeleteCluster", cluster, {"ClusterName": ClusterName})
        self.world.note(self._who(), "DeleteCluster %s", ClusterName)
        self._begin_deletion(cluster)
        return {"ClusterArn": cluster.arn}

    def _begin_deletion(self, cluster: Cluster) -> None:
        self._busy(cluster, "Deleting")
        self._changed(cluster)
        self.world.after(self.conduct.delete_seconds, lambda: self._deleted(cluster))

    def _deleted(self, cluster: Cluster) -> None:
        del self.clusters[cluster.name]
        self.world.note("HyperPod", "the cluster is gone")
        self._changed(cluster)

    @called("sagemaker")
    def list_cluster_nodes(self, *, ClusterName: str, **_paging: object) -> dict[str, Any]:
        cluster = self._present("ListClusterNodes", ClusterName)
        nodes = [
            {
                "InstanceGroupName": key,
                "InstanceId": f"i-{number:017x}",
                "InstanceType": group.spec["InstanceType"],
                "LaunchTime": datetime.fromtimestamp(STARTS_AT, tz=UTC),
                "InstanceStatus": {
                    "Status": "Running" if number < group.current else "Pending",
                },
            }
            for key, group in cluster.groups.items()
            for number in range(group.target)
        ]
        if self.conduct.bare_nodes:
            for node in nodes:
                if node["InstanceStatus"]["Status"] == "Pending":
                    del node["InstanceStatus"]
        answer: dict[str, Any] = {"ClusterNodeSummaries": nodes}
        return {**answer, "NextToken": "again"} if self.conduct.endless_pages else answer

    def _update_system(self) -> None:
        cluster = next(iter(self.clusters.values()), None)
        if cluster is not None and cluster.status == "InService":
            self._busy(cluster, "SystemUpdating")
            self.world.note("HyperPod", "updates the cluster itself")
            self._changed(cluster)
            self.world.after(90.0, lambda: self._back_in_service(cluster))


def _spec(name: str, count: int, like: Group) -> dict[str, Any]:
    return {**like.spec, "InstanceGroupName": name, "InstanceCount": count}


def _not_found(operation: str, name: str) -> Exception:
    return client_error("ResourceNotFound", operation, f"Cluster {name} not found.")


def _invalid(operation: str, message: str) -> Exception:
    return client_error("ValidationException", operation, message)
