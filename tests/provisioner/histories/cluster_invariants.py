"""What must hold of a HyperPod cluster."""

from dataclasses import replace

from tests.provisioner.histories.cluster_templates import NAME, ClusterTemplate
from tests.provisioner.histories.clusters import DEFAULT_AMI, OPERATOR, Change, Cluster, Group
from tests.provisioner.histories.invariants import LEAST_LASTING, SLACK_SECONDS, Rule, Subject
from tests.provisioner.histories.plan import Request
from tests.provisioner.histories.sagemaker import SageMaker
from tests.provisioner.histories.slurm import is_in_slurm_as, is_told_as, misled

_SHOWN_SECONDS = 10.0


class ClusterRules(Subject):
    """What must hold of a cluster; `sagemaker` is HyperPod as it truly is."""

    sagemaker: SageMaker

    # Calls.

    def changes(self, change: Change) -> None:
        request, cluster = change.request, change.cluster
        if not isinstance(request, Request):
            return
        foreign = cluster.created_by is None and change.operation != "CreateCluster"
        if foreign:
            self.violated(Rule.NOT_OWNED, f"{change.operation} of another stack's cluster")
            return
        if change.operation == "AddTags":
            return
        if self.is_over(request, change.begun_at, what=change.operation):
            return
        if change.operation == "UpdateCluster":
            self._updates(change, request)
        elif change.operation == "UpdateClusterSoftware":
            self._patches(change, request)
        elif change.operation == "DeleteCluster" and request.type != "Delete" and cluster.worked:
            self.violated(Rule.NOT_ASKED, f"DeleteCluster by a {request.kind}")

    def _updates(self, change: Change, request: Request) -> None:
        groups = change.cluster.groups
        lag = self.world.faults.describe_lag + SLACK_SECONDS
        for name in change.input.get("InstanceGroupsToDelete", ()):
            group = groups[name]
            # It came while a request that asked for the same could not see it.
            asked = request.undone.wanted.by_name.get(name) if request.undone else None
            alike = [request.undone] if asked and asked.count == group.target else []
            unseen = any(
                isinstance(one, Request) and group.added_at > one.sent_at - lag
                for one in (*alike, *group.named_by)
            )
            if not unseen and not _asks_to_delete(request, name, group):
                whose = "an operator's" if group.added_by == OPERATOR else "a"
                self.violated(
                    Rule.NOT_ASKED, f"{request.kind} deletes {whose} group", f"group {name}"
                )
        since = change.begun_at - lag
        for spec in change.input.get("InstanceGroups", ()):
            name, count = spec["InstanceGroupName"], spec["InstanceCount"]
            shrunk = groups.get(name)
            if shrunk is None or count >= shrunk.target:
                continue
            just_now = shrunk.counted_by == OPERATOR and shrunk.counted_at >= since
            again = _was_taken_back(change.cluster, name, count)
            if not (just_now or again or _asks_to_shrink(request, name, shrunk)):
                whose = "an operator's" if shrunk.counted_by == OPERATOR else "a"
                self.violated(
                    Rule.NOT_ASKED,
                    f"{request.kind} shrinks {whose} group",
                    f"group {name} from {shrunk.target} to {count}",
                )

    def _patches(self, change: Change, request: Request) -> None:
        # A rollback takes back what it can.
        lag = self.world.faults.describe_lag + SLACK_SECONDS
        is_seen = change.cluster.taken_back_at < change.begun_at - lag
        taken_back = change.cluster.taken_back_from is request and is_seen
        if taken_back and request.kind != "rollback":
            self.violated(Rule.NOT_ASKED, f"{request.kind} patches after its update was taken back")
        for one in change.input["InstanceGroups"]:
            name = one["InstanceGroupName"]
            group = change.cluster.groups[name]
            if request in group.patched_by:
                self.violated(
                    Rule.NOT_ASKED, f"{request.kind} patches a group twice", f"group {name}"
                )
            elif not (
                _asks_to_patch(request, name, group)
                or self._is_by_hand(name, request)
                or self._is_repaired(name, request)
            ):
                self.violated(Rule.NOT_ASKED, f"{request.kind} patches a group", f"group {name}")

    def _is_repaired(self, name: str, request: Request) -> bool:
        """Say whether an operator gave a group an AMI while a request for another was under way."""
        return any(
            _asks_for_another_image(one, name)
            and self._is_by_hand(name, one)
            and self.sagemaker.hands.get(name, 0.0) < one.ended_at()
            for one in request.siblings
        )

    # Requests.

    def sent(self, request: Request) -> None:
        cluster = self.sagemaker.clusters.get(NAME)
        if cluster is not None:
            groups = {name: replace(group) for name, group in cluster.present.items()}
            request.snapshot = replace(cluster, groups=groups)

    def is_false(self, request: Request) -> str:
        """Say so if a request fails for being late, and waits for nothing but its own call."""
        cluster = self.sagemaker.clusters.get(NAME)
        own = (
            request.wanted.on_shortage == "continue"
            and cluster is not None
            and cluster.status == "Updating"
            and cluster.busy_for is request
            and cluster.taken_back_from is not request
            and not self.lasted(request)
        )
        if own:
            return f"a {request.kind} fails for what it does itself"
        return "" if cluster is None or cluster.slurm is None else misled(request, cluster)

    def deleted(self, request: Request) -> None:
        cluster = self.sagemaker.clusters.get(NAME)
        if cluster is not None and cluster.created_by is not None and _marked(cluster, request):
            self.violated(Rule.NOT_TRUE, "a deletion is a success, and the cluster is there")

    def _is_by_hand(self, name: str, request: Request) -> bool:
        """Say whether an operator changed a group since a request, or just before it."""
        at = max(self.sagemaker.hands.get(name, 0.0), self.sagemaker.hands.get("", 0.0))
        return at > request.sent_at - self.world.faults.describe_lag - SLACK_SECONDS

    def succeeded(self, request: Request) -> None:  # noqa: PLR0912 - each is one difference
        cluster = self.sagemaker.clusters.get(NAME)
        template: ClusterTemplate = request.wanted
        former: ClusterTemplate | None = request.former
        if _tells_a_difference(request):
            return
        if cluster is None:
            if not self._is_by_hand("", request):
                self.violated(Rule.NOT_TRUE, f"{request.kind}: success without a cluster")
            return
        for name, spec in template.by_name.items():
            if self._is_by_hand(name, request):
                continue
            group = cluster.present.get(name)
            if group is None:
                self.violated(Rule.NOT_TRUE, f"{request.kind}: a group is not there", name)
                continue
            before = former.by_name.get(name) if former else None
            asked = before is None or before.count != spec.count
            if not is_in_slurm_as(group, spec):
                self.violated(Rule.NOT_TRUE, f"{request.kind}: another partition", name)
            if asked and group.target != spec.count:
                text = f"group {name} has {group.target}, not {spec.count}"
                self.violated(Rule.NOT_TRUE, f"{request.kind}: another number", text)
            elif group.current < group.target:
                self.violated(Rule.NOT_TRUE, f"{request.kind}: nodes are missing", name)
            if not (name in self.sagemaker.hands or _has_image(group, spec.release, spec.image)):
                self.violated(Rule.NOT_TRUE, f"{request.kind}: another AMI", name)
            elif (
                former is not None
                and name in former.by_name
                and template.software not in {"", former.software}
                and not (spec.release or spec.image)
                and name in (request.snapshot.groups if request.snapshot else ())
                and request.snapshot.groups[name].former_image is None  # by a rollback, for example
                and not self.sagemaker.hands.get("")
                and group.added_by not in (OPERATOR, request)
                and request not in group.patched_by
            ):
                self.violated(Rule.NOT_TRUE, f"{request.kind}: the latest AMI is not given", name)
        for name in former.by_name if former else ():
            group = cluster.present.get(name)
            left = group is not None and name not in template.by_name
            if left and not self._is_by_hand(name, request):
                self.violated(Rule.NOT_TRUE, f"{request.kind}: a removed group is there", name)
        if (former is None or former.recovery != template.recovery) and (
            cluster.recovery != template.recovery
        ):
            self.violated(Rule.NOT_TRUE, f"{request.kind}: another NodeRecovery")
        if template.wait_for != "accepted" and not is_told_as(cluster, template):
            self.violated(Rule.NOT_TRUE, f"{request.kind}: Slurm is told something else")

    def rolled_back(self, request: Request) -> None:  # noqa: PLR0912 - each is one difference
        """Compare the cluster with what it was before the failed update."""
        cluster = self.sagemaker.clusters.get(NAME)
        undone = request.undone
        assert undone is not None
        before: Cluster | None = undone.snapshot
        if before is None or not before.worked or _tells_a_difference(request):
            return
        if request.wanted.wait_for == "accepted":
            return  # answered once HyperPod has taken it, whatever becomes of it
        if cluster is None:
            if not self._is_by_hand("", undone):
                self.violated(Rule.NOT_UNDONE, "rollback: the cluster is gone")
            return
        wanted: ClusterTemplate = request.wanted
        if before.status not in {"InService", "SystemUpdating"}:
            return  # it was on its way from one state to another
        for name, state in before.groups.items():
            if self._is_by_hand(name, undone):
                continue
            group = cluster.present.get(name)
            spec = wanted.by_name.get(name)
            # What a request that failed before has left may be repaired, or not.
            if group is None:
                if spec is not None or state.added_by == OPERATOR:
                    self.violated(Rule.NOT_UNDONE, "rollback: a group is lost", name)
                continue
            if group.spec.get("SlurmConfig") != state.spec.get("SlurmConfig") and not (
                spec and is_in_slurm_as(group, spec)
            ):
                self.violated(Rule.NOT_UNDONE, "rollback: another partition", name)
            left = state.counted_by != OPERATOR and spec is not None
            repaired = left and spec is not None and group.target == spec.count
            if group.target != state.target and not repaired:
                text = f"group {name} has {group.target}, not {state.target}"
                self.violated(Rule.NOT_UNDONE, "rollback: another number", text)
            if state.former_image is not None:
                continue
            explicit = spec is not None and (spec.release or spec.image)
            repaired = spec is not None and not spec.image and group.image == DEFAULT_AMI
            same = repaired or (group.release, group.image) == (state.release, state.image)
            if not same and (explicit or group.image != state.image):
                asked = spec is not None and _has_image(group, spec.release, spec.image)
                if not (explicit and asked):
                    self.violated(Rule.NOT_UNDONE, "rollback: another AMI", name)
        for name, group in cluster.present.items():
            former = name in before.groups or name in wanted.by_name
            added = not former and group.added_by != OPERATOR
            if added and not self._is_by_hand(name, undone):
                self.violated(Rule.NOT_UNDONE, "rollback: a group is left", name)
        if cluster.recovery not in {before.recovery, wanted.recovery}:
            self.violated(Rule.NOT_UNDONE, "rollback: another NodeRecovery")
        # What HyperPod still tries does not show: the next deployment sets it back.
        tries = cluster.continuous and self.sagemaker.conduct.database_seconds > _SHOWN_SECONDS
        if not tries and cluster.slurm != before.slurm and not is_told_as(cluster, wanted):
            self.violated(Rule.NOT_UNDONE, "rollback: Slurm is told something else")

    def healed(self, request: Request) -> None:
        template: ClusterTemplate = request.wanted
        if any(one.wanted.wait_for == "accepted" for one in request.siblings):
            return  # what was only accepted may have been taken back unseen
        if any(map(self._could_note_nothing, request.siblings)):
            return
        cluster = self.sagemaker.clusters.get(NAME)
        if cluster is None:
            self.violated(Rule.NOT_UNDONE, "repaired: there is no cluster")
            return
        for name, spec in template.by_name.items():
            group = cluster.present.get(name)
            if group is None:
                self.violated(Rule.NOT_UNDONE, "repaired: a group is not there", name)
                continue
            by_hand = group.counted_by == OPERATOR or name in self.sagemaker.hands
            if group.target != spec.count and not by_hand:
                text = f"group {name} has {group.target}, not {spec.count}"
                self.violated(Rule.NOT_UNDONE, "repaired: another number", text)
            by_hand = name in self.sagemaker.hands
            if not by_hand and not _has_image(group, spec.release, spec.image):
                self.violated(Rule.NOT_UNDONE, "repaired: another AMI", name)
            if not is_in_slurm_as(group, spec):
                self.violated(Rule.NOT_UNDONE, "repaired: another partition", name)
        for name in cluster.present:
            kept = name in template.by_name or name in self.sagemaker.hands
            if not kept:
                self.violated(Rule.NOT_UNDONE, "repaired: a group is left", name)
        if cluster.recovery != template.recovery:
            self.violated(Rule.NOT_UNDONE, "repaired: another NodeRecovery")
        if not is_told_as(cluster, template):
            self.violated(Rule.NOT_UNDONE, "repaired: Slurm is told something else")

    def _could_note_nothing(self, request: Request) -> bool:
        """Say whether AWS failed a rollback for an hour."""
        is_busy = request.error is None and request.data.get("ClusterStatus") != "InService"
        is_late = request.ended_at() > request.sent_at + LEAST_LASTING
        return request.kind == "rollback" and (request.error is not None or is_busy or is_late)


def _asks_to_delete(request: Request, name: str, group: Group) -> bool:
    wanted: ClusterTemplate = request.wanted
    if name in wanted.by_name or request.type == "Delete":
        return False
    made_by_request = group.added_by != OPERATOR
    if request.kind == "update" and request.former is not None and name in request.former.by_name:
        return True
    return made_by_request


def _asks_to_shrink(request: Request, name: str, group: Group) -> bool:
    wanted: ClusterTemplate = request.wanted
    if request.kind == "rollback":
        return group.counted_by != OPERATOR
    if name not in wanted.by_name:
        return False
    before = request.former.by_name.get(name) if request.former else None
    asked = before is None or before.count != wanted.by_name[name].count
    # What a request that failed has left may be repaired.
    return asked or (group.counted_by != OPERATOR and group.counted_by is not request)


def _was_taken_back(cluster: Cluster, name: str, count: int) -> bool:
    """Say whether HyperPod took back a number that was asked for after an operator's."""
    asked = cluster.taken_back_from
    if not isinstance(asked, Request) or name not in asked.wanted.by_name:
        return False
    is_later = asked.sent_at > cluster.groups[name].counted_at
    return is_later and asked.wanted.by_name[name].count == count


def _asks_to_patch(request: Request, name: str, group: Group) -> bool:
    wanted: ClusterTemplate = request.wanted
    spec = wanted.by_name.get(name)
    if request.kind == "rollback":
        failed = request.undone.wanted.by_name.get(name) if request.undone else None
        explicit = spec is not None and failed and (failed.release or failed.image)
        is_failed_one = failed and explicit and _has_image(group, failed.release, failed.image)
        return bool(is_failed_one) or group.imaged_by in (request, request.undone)
    explicit = spec is not None and (spec.release or spec.image)
    if group.imaged_by == OPERATOR and not _asks_for_another_image(request, name):
        return False
    if spec is not None and explicit:
        return not _has_image(group, spec.release, spec.image)
    former: ClusterTemplate | None = request.former
    is_left = spec is not None and group.image != DEFAULT_AMI and group.imaged_by != OPERATOR
    if is_left or former is None:
        return is_left  # what a request that failed has left is repaired
    if wanted.software not in {"", former.software}:
        return True
    # An image of its own that the template has no longer is HyperPod's own again.
    before = former.by_name.get(name)
    return before is not None and bool(before.image)


def _asks_for_another_image(request: Request, name: str) -> bool:
    before = request.former.by_name.get(name) if request.former else None
    spec = request.wanted.by_name.get(name)
    if (
        before is None
        or spec is None
        or request.wanted.software not in {"", request.former.software}
    ):
        return True
    return (before.release, before.image) != (spec.release, spec.image)


def _has_image(group: Group, release: str | None, image: str | None) -> bool:
    if image is not None:
        return group.image == image
    return release is None or group.release == release


def _tells_a_difference(request: Request) -> bool:
    told = request.data.get("Shortage", "none") != "none"
    return told or request.data.get("ClusterStatus") != "InService"


def _marked(cluster: Cluster, request: Request) -> bool:
    return bool(cluster.true_tags().get("hyperpod-cdk:stack-id") == request.stack_id)
