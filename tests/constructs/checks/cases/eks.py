"""Rules on the control plane alone."""

from collections.abc import Sequence
from typing import Any

from hyperpod_cdk import Config, EksConfig
from hyperpod_cdk.checks.eks.editors_namespaces import editors_namespaces
from hyperpod_cdk.checks.eks.editors_patterns import editors_patterns
from hyperpod_cdk.checks.eks.existing_control_plane import existing_control_plane
from hyperpod_cdk.checks.eks.node_roles import node_roles
from hyperpod_cdk.checks.eks.shared_files import shared_files
from hyperpod_cdk.checks.eks.shared_rights import shared_rights
from hyperpod_cdk.eks.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.eks.checks.public_endpoint import public_endpoint
from tests.support.rule_cases import ERROR, WARNING, Cases, config

_ANYWHERE = "0.0.0.0/0"

CASES: Cases = {}
CASES[kubernetes_version] = {
    **{version: EksConfig(version=version) for version in ("1.33", "1.34", "1.35")},
    **{
        version: (EksConfig(version=version), (WARNING, "eks.version"))
        for version in ("1.30", "1.32")
    },
}

CASES[public_endpoint] = {
    "addresses written out": EksConfig(public_access_cidrs=(_ANYWHERE,)),
    "narrow": EksConfig(public_access_cidrs=("203.0.113.0/24",)),
    "private": EksConfig(endpoint_access="private"),
    "open as it is": EksConfig(cluster_arn="arn:aws:eks:us-west-2:111122223333:cluster/mine"),
    "open by default": (EksConfig(), (WARNING, "eks.public_access_cidrs")),
    "public alone, open by default": (
        EksConfig(endpoint_access="public"),
        (WARNING, "eks.public_access_cidrs"),
    ),
}

_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/mine"
_NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "hyperpod_subnets": [
        {"subnet_id": "subnet-0123456789abcdef0", "availability_zone_id": "usw2-az2"}
    ],
}
_GROUP = {"security_group_id": "sg-0123456789abcdef0"}
_SUBNETS = {"eks_subnet_ids": ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]}


def _on(cluster_arn: str | None, **network: object) -> Config:
    return config(eks={"cluster_arn": cluster_arn}, network={**_NETWORK, **network})


CASES[existing_control_plane] = {
    "all is made": config(),
    "all exists": _on(_ARN, **_GROUP),
    "made in a VPC that exists": _on(None, **_SUBNETS),
    "a new VPC": (
        config(eks={"cluster_arn": _ARN}),
        (ERROR, "network.vpc_id"),
        (ERROR, "network.security_group_id"),
    ),
    "a closed VPC": (
        config(
            eks={"cluster_arn": _ARN, "endpoint_access": "private"},
            network={"closed": True, "public_subnet_cidrs": []},
        ),
        (ERROR, "network.vpc_id"),
        (ERROR, "network.closed"),
        (ERROR, "network.security_group_id"),
    ),
    "a new group": (_on(_ARN), (ERROR, "network.security_group_id")),
    "subnets of its own": (_on(_ARN, **_GROUP, **_SUBNETS), (ERROR, "network.eks_subnet_ids")),
    "made without subnets": (_on(None), (ERROR, "network.eks_subnet_ids")),
}


def _edited(*namespaces: str, **changes: Any) -> Config:
    principals = ["arn:aws:iam::111122223333:role/Ann"]
    editors = [{"namespaces": list(namespaces), "principals": principals}]
    return config(eks={"editors": editors}, **changes)


_FIRST, _SECOND = "eks.editors[0].namespaces[0]", "eks.editors[0].namespaces[1]"
CASES[editors_namespaces] = {
    "no editors": config(),
    # The claims are in `default` by default, and no service account with rights is.
    "of their own": _edited("default", "team-*", "hyperpod-ns-team"),
    **{
        f"of the official chart: {name}": (
            _edited("team", name, helm={"adopt_namespaces": []}),
            (ERROR, _SECOND),
        )
        for name in ("aws-hyperpod", "kubeflow", "mpi-operator")
    },
    **{
        f"of an add-on: {name}": (_edited(name), (ERROR, _FIRST))
        for name in (
            "hyperpod-o*",
            "amazon-cloudwatch",
            "hyperpod-grafana",
            "jupyter-k8s-*",
            "node-health-*",
        )
    },
    "of a team": (
        config(teams=[{"name": "a", "namespaces": ["team", "kubeflow"]}]),
        (ERROR, "teams[0].namespaces[1]"),
    ),
    "of another chart": (
        _edited("own-*", helm={"adopt_namespaces": ["own-operator"]}),
        (ERROR, _FIRST),
    ),
}
CASES[editors_patterns] = {
    "names": _edited("team-a", "team-b"),
    "a pattern": (_edited("team-a", "dev-*"), (WARNING, _SECOND)),
}


CASES[shared_rights] = {
    "their own": _edited("team"),
    "everyone's": (_edited("team", "def*"), (WARNING, _SECOND)),
    "a chart's own": (
        config(helm={"values": {"cluster-role-and-bindings": {"enabled": True}}}),
        (WARNING, "helm.values.cluster-role-and-bindings"),
    ),
}


def _sharing(*claims: dict[str, Any], teams: Sequence[Any] = (), **storage: Any) -> Config:
    editors = [
        {"namespaces": [name], "principals": [f"arn:aws:iam::111122223333:role/{name}"]}
        for name in ("team-a", "team-b")
    ]
    named = [
        {"namespace": name, **claim}
        for name, claim in zip(("team-a", "team-b"), claims, strict=True)
    ]
    return config(eks={"editors": editors}, teams=[*teams], storage={"claims": named, **storage})


_DIRECTORY = "storage.claims[1].directory"
_OF_A, _OF_B = {"directory": "/teams/a"}, {"directory": "/teams/b"}
CASES[shared_files] = {
    "own directories": _sharing(_OF_A, _OF_B),
    "names that begin alike": _sharing(_OF_A, {"directory": "/teams/ab"}),
    "nobody writes": _sharing({"access": "ReadOnlyMany"}, {"access": "ReadOnlyMany"}),
    "the same files": (_sharing({}, {}), (WARNING, _DIRECTORY)),
    "those of a team": (
        _sharing({}, _OF_B, teams=[{"name": "c"}]),
        *[(WARNING, f"storage.claims[{n}].directory") for n in (1, 0)],
    ),
    "a directory within": (_sharing({}, _OF_B), (WARNING, _DIRECTORY)),
    "one only reads": (_sharing({}, {"access": "ReadOnlyMany"}), (WARNING, _DIRECTORY)),
    "root is nobody": (
        _sharing(
            _OF_A,
            _OF_B,
            home_directories={"root_squash": True, "claims": [{"directory": "/one"}]},
        ),
        (WARNING, "storage.home_directories.claims[0].directory"),
    ),
}


def _of_nodes(**eks: object) -> Config:
    return config(eks=eks, cluster={"execution_role_arn": _NODES})


_NODES, _PERSON = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Nodes", "Ann"))
_EDITORS = [{"namespaces": ["team"], "principals": [_PERSON, _NODES]}]
CASES[node_roles] = {
    "of people": _of_nodes(admins=[_PERSON]),
    "of admins": (_of_nodes(admins=[_PERSON, _NODES]), (ERROR, "eks.admins[1]")),
    "of viewers": (_of_nodes(viewers=[_NODES]), (ERROR, "eks.viewers[0]")),
    "of a role to be made": (
        config(eks={"admins": [_NODES]}, cluster={"execution_role_name": "Nodes"}),
        (ERROR, "eks.admins[0]"),
    ),
    "of editors": (_of_nodes(editors=_EDITORS), (ERROR, "eks.editors[0].principals[1]")),
    "of a team": (
        config(
            teams=[{"name": "a", "editors": [_NODES], "viewers": [_NODES]}],
            cluster={"execution_role_arn": _NODES},
        ),
        (ERROR, "teams[0].editors[0]"),
        (ERROR, "teams[0].viewers[0]"),
    ),
}
