"""Histories of the resources that change one thing or nothing, and what must hold of them.

The authentication mode of an EKS cluster, a file system's availability, and the deletion check.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import CELL_END, ROW_END
from tests.provisioner.histories.invariants import Rule, Subject
from tests.provisioner.histories.kubernetes import connected, reach
from tests.provisioner.histories.plan import Plan, Request, Template
from tests.provisioner.histories.world import Past, World, called
from tests.support.provisioner.fake_s3 import client_error

MODE, FILE_SYSTEM, DELETION = (
    "EksAuthenticationMode",
    "FileSystemAvailability",
    "DeletionCheck",
)
_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/ml"
_WITH_ENTRIES = {"API", "API_AND_CONFIG_MAP"}
_JOB = ("ml", "llama-worker-0", "", "node-1", "default", "Running", "PyTorchJob", "llama")


@dataclass(frozen=True, kw_only=True)
class SmallTemplate(Template):
    """One of the resources, as a template has it."""

    about: str
    version: int

    @property
    def properties(self) -> Mapping[str, Any]:
        """The ResourceProperties; any that differs makes an Update."""
        own: dict[str, str] = {"ClusterName": "ml"}
        if self.about == FILE_SYSTEM:
            own = {"FileSystemId": "fs-1"}
        elif self.about == DELETION:
            own |= {"Releases": '["training/deps"]'}
        function = f"arn:aws:lambda:us-west-2:111122223333:function:{self.version}"
        return {"ServiceToken": function, **own}


@dataclass(kw_only=True)
class SmallConduct:
    """How this history's EKS, FSx and Kubernetes conduct themselves.

    Attributes:
        mode: The authentication mode that the EKS cluster has at first.
        by_hand_at: When an operator changes the mode, in seconds since the beginning; 0: never.
        made_at: When FSx knows the file system.
        available_at: When it is AVAILABLE, with its names.
        fails: Whether it is FAILED then.
        runs_jobs: Whether a user's job runs in the EKS cluster.
    """

    mode: str = "CONFIG_MAP"
    change_seconds: float = 100.0
    by_hand_at: float = 0.0
    made_at: float = 0.0
    available_at: float = 0.0
    fails: bool = False
    runs_jobs: bool = False


@dataclass(kw_only=True)
class Services:
    """EKS, FSx and the Kubernetes API."""

    world: World
    conduct: SmallConduct
    is_over: Callable[..., bool]
    mode: Past = field(default_factory=Past)
    busy: Past = field(default_factory=Past)

    def __post_init__(self) -> None:
        self.mode.put(self.world.now, self.conduct.mode)
        self.busy.put(self.world.now, value=False)
        if self.conduct.by_hand_at:
            self.world.after(self.conduct.by_hand_at, lambda: self._change_to("API"))

    @called("eks")
    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        at = self.world.now - self.world.lag(self.world.faults.describe_lag)
        return {
            "cluster": {
                "name": name,
                "arn": _ARN,
                "status": "UPDATING" if self.busy.read(at) else "ACTIVE",
                "endpoint": "https://x",
                "accessConfig": {"authenticationMode": self.mode.read(at)},
            }
        }

    @called("eks")
    def update_cluster_config(self, *, name: str, accessConfig: Mapping[str, str]) -> Any:  # noqa: ANN401
        what = "UpdateClusterConfig"
        mode, wanted = self.mode.read(self.world.now), accessConfig["authenticationMode"]
        if self.busy.read(self.world.now):
            raise client_error("ResourceInUseException", what, f"{name} has an update")
        if mode in _WITH_ENTRIES:
            message = f"Unsupported authentication mode update from {mode} to {wanted}"
            raise client_error("InvalidParameterException", what, message)
        invocation = self.world.invocation
        self.world.note(invocation.who, "%s %s", what, wanted)
        self.is_over(invocation.request, invocation.begun_at, what=what)
        self._change_to(wanted)
        return {}

    @called("fsx")
    def describe_file_systems(self, *, FileSystemIds: Sequence[str]) -> dict[str, Any]:
        at = self.world.elapsed - self.world.lag(self.world.faults.describe_lag)
        if at < self.conduct.made_at:
            raise client_error("FileSystemNotFound", "DescribeFileSystems", FileSystemIds[0])
        return {"FileSystems": [self.file_system(at)]}

    def file_system(self, at: float) -> dict[str, Any]:
        conduct = self.conduct
        if at < conduct.available_at:
            return {"FileSystemType": "LUSTRE", "Lifecycle": "CREATING"}
        return {
            "FileSystemType": "LUSTRE",
            "Lifecycle": "FAILED" if conduct.fails else "AVAILABLE",
            "DNSName": "fs-1.fsx.us-west-2.amazonaws.com",
            "LustreConfiguration": {"MountName": "fsx"},
        }

    def kubectl(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        assert timeout_seconds >= 1.0
        reach(self.world, f"kubectl {' '.join(arguments[:2])}")
        runs = arguments[1] == "pods" and self.conduct.runs_jobs
        return CELL_END.join(_JOB) + ROW_END if runs else ""

    def helm(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Do what helm would: there is no release."""
        assert timeout_seconds >= 1.0
        reach(self.world, f"helm {' '.join(arguments[:2])}")
        raise CommandFailedError("Error: release: not found")

    def _change_to(self, mode: str) -> None:
        self.busy.put(self.world.now, value=True)
        self.world.after(self.conduct.change_seconds, lambda: self._changed(mode))

    def _changed(self, mode: str) -> None:
        self.busy.put(self.world.now, value=False)
        self.mode.put(self.world.now, mode)
        self.world.note("EKS", "the mode is %s", mode)


class SmallSubject(Subject):
    """One of the resources."""

    pauses = (1.0, 30.0, 300.0)
    conduct: SmallConduct

    def __init__(self, plan: Plan, world: World) -> None:
        super().__init__(plan, world)
        self.resource_type = f"Custom::{plan.operations[0].template.about}"
        self.made = Services(world=world, conduct=self.conduct, is_over=self.is_over)
        self.services = {"eks": self.made, "fsx": self.made}

    @staticmethod
    def templates(random: Random) -> Iterator[SmallTemplate]:
        about = random.choice((MODE, FILE_SYSTEM, DELETION))
        for version in range(random.choice((1, 2, 3))):
            yield SmallTemplate(about=about, version=version)

    @staticmethod
    def drawn_conduct(random: Random) -> SmallConduct:
        made_at = random.choice((0.0, 0.0, 60.0))
        return SmallConduct(
            mode=random.choice(("CONFIG_MAP", "CONFIG_MAP", "API", "API_AND_CONFIG_MAP")),
            change_seconds=random.choice((20.0, 100.0, 600.0)),
            by_hand_at=random.choice((0.0, 0.0, 40.0, 60.0, 400.0)),
            made_at=made_at,
            available_at=made_at + random.choice((0.0, 100.0, 700.0, 3900.0)),
            fails=random.random() < 0.1,
            runs_jobs=random.random() < 0.5,
        )

    def calm_down(self) -> float:
        """Let the file system become available."""
        self.conduct.fails = False
        return 4000.0

    def connected(self) -> AbstractContextManager[None]:
        return connected(self.made, cluster="ml", namespace="default")

    def deleted(self, request: Request) -> None:
        if self._loses(request):
            self.violated(Rule.NOT_ASKED, "a stack is deleted in which a user's job runs")

    def is_false(self, request: Request) -> str:
        """Say so if a deletion fails for jobs that do not run, or one that no user asked for."""
        is_false = request.type == "Delete" and not self._loses(request)
        return f"a {request.kind} fails for nothing" if is_false else ""

    def is_hindered(self, request: Request) -> bool:
        """Say whether there is nothing that could be mounted."""
        conduct = self.conduct
        waits = self.world.elapsed < conduct.available_at or conduct.fails
        return waits and request.wanted.about == FILE_SYSTEM

    def _loses(self, request: Request) -> bool:
        """Say whether the deletion of the whole stack, by a user, would end a job."""
        by_user = request.kind == "delete" and request.undone is None
        return by_user and self.conduct.runs_jobs and request.wanted.about == DELETION

    def compare(self, invariant: Rule, request: Request, kind: str) -> None:
        services = self.made
        mode = services.mode.read(self.world.now)
        if request.wanted.about == MODE and mode not in _WITH_ENTRIES:
            self.violated(invariant, f"{kind}: the mode is {mode}")
        if request.wanted.about == FILE_SYSTEM:
            there = services.file_system(self.world.elapsed)
            names = (there.get("DNSName"), "fsx")
            if (request.data.get("DnsName"), request.data.get("MountName")) != names:
                self.violated(invariant, f"{kind}: other names", str(request.data))
