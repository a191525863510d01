"""The EKS add-ons that `operators` switches on, a row each.

Whatever differs between them is in the row, in `operator_addons.yaml`: checks, the stack, its
templates, `verify`, the pins read it. Names of workloads and definitions are those that the add-ons
install; replicas are those of their defaults.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from hyperpod_cdk.facts import table_of


@dataclass(config=ConfigDict(extra="forbid"), frozen=True, kw_only=True, slots=True)
class OperatorAddon:
    """An EKS add-on of `operators`.

    Attributes:
        name: EKS's name of it.
        key: Its switch in the section.
        says: What it is called in a sentence.
        without: What does not work without it, as a sentence that ends in a space.
        versions: The pin, by the first Kubernetes version that has it.
        namespace: Where its workloads are.
        deployments: How many pods each of its Deployments has, by name.
        daemon_sets: Its DaemonSets.
        needs: Why it needs each further add-on to be installed, by the switch of that one.
        definition: The definition of the objects that users make of it, by which EKS has installed
            it. None if it brings none.
        is_preserved: Whether it stays in the cluster when the add-on is deleted: deleting a
            definition deletes what users have made of its kind.
        tolerates_all: Whether its pods run on nodes with any taint.
        leaves_out_hyperpod: Whether its DaemonSets run on no node of HyperPod.
        values: Its configuration values. Default: the add-on's own.
    """

    name: str
    key: str
    says: str
    without: str
    versions: Mapping[str, str]
    namespace: str = "kube-system"
    deployments: Mapping[str, int] = field(default_factory=dict)
    daemon_sets: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    definition: str | None = None
    is_preserved: bool = False
    tolerates_all: bool = False
    leaves_out_hyperpod: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


OPERATOR_ADDONS: Final = TypeAdapter(tuple[OperatorAddon, ...]).validate_python(
    table_of(__package__, "operator_addons")
)
"""In the order in which they are installed."""
