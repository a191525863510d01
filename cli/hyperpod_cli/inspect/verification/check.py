"""What a subject to verify is, its checks, and what it may look at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import cached_property
from typing import Any

from kubernetes.client import ApiClient

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.existing_network import Vpc
from hyperpod_cli.inspect.registered import Registered, register
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, labelled_nodes, node_objects
from hyperpod_stacks.table import StackKind, stack_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Whether something holds; what is found instead and the advice are empty if it does.

    The title is the command that shows it, or a sentence. What could not be looked at is not known
    and does not hold; it is transient if it may be looked at a minute later.
    """

    title: str
    ok: bool
    found: str = ""
    advice: str = ""
    is_known: bool = True
    is_transient: bool = False

    def as_json(self) -> Mapping[str, str | bool]:
        """Return it as programs read it."""
        return {
            "check": self.title,
            "ok": self.ok,
            "found": self.found,
            "advice": self.advice,
            "is_known": self.is_known,
            "may_pass": self.is_transient,
        }


def checked(
    title: str, *, problem: str | Sequence[str] | None, advice: str, words: str = "{}"
) -> Check:
    """Return a check that holds unless there is a problem, or several, which the words tell."""
    if not problem:
        return Check(title=title, ok=True)
    what = problem if isinstance(problem, str) else several(problem)
    return Check(title=title, ok=False, found=words.format(what), advice=advice)


@dataclass(frozen=True, kw_only=True)
class LiveDeployment:
    """A deployment, the clients by which it is looked at, and the outputs of each stack by name."""

    config: Config
    client: Callable[[str], Any]
    kubernetes: ApiClient
    outputs: Mapping[str, Mapping[str, str]]

    @cached_property
    def nodes(self) -> Sequence[Mapping[str, Any]]:
        """The Node objects of the HyperPod cluster, as the Kubernetes API has them."""
        return [*node_objects(self.kubernetes, cluster=self.config.cluster.name)]

    @cached_property
    def ec2_nodes(self) -> Sequence[Mapping[str, Any]]:
        """The Node objects of the node groups."""
        names = ",".join(group.name for group in self.config.node_groups)
        selector = f"{NODE_GROUP_LABEL} in ({names})"
        return [*labelled_nodes(self.kubernetes, selector)] if names else []

    @property
    def vpc(self) -> Vpc:
        """The VPC of its nodes."""
        return Vpc(id=self.outputs_of("platform")["VpcId"], ec2=self.client("ec2"))

    def outputs_of(self, kind: StackKind) -> Mapping[str, str]:
        """Return the outputs of a stack."""
        return self.outputs[stack_name(self.config, kind)]


Checks = Iterator[Check]
Verify = Callable[[LiveDeployment], Checks]
"""Yields checks; calls that only read. Passes over configurations that it does not concern."""


class Phase(IntEnum):
    """When a subject is checked."""

    INSTALLATION = auto()
    NODES = auto()
    CLUSTER = auto()
    NETWORK = auto()
    ACCESS = auto()
    ADDONS = auto()
    DATA = auto()


subject = register
"""Registers the subject of a file of `subjects/`; its docstring says when it holds."""
Subject = Registered[[LiveDeployment], Check]


def several(items: Sequence[str], *, most: int = 3) -> str:
    """Return the first of a list in words, and how many there are more."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f", and {more} more" if more > 0 else "")
