"""`make critical-path`: the graph, the times, and what is printed."""

from pathlib import Path

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Address
from hyperpod_cli.inspect.critical_path import (
    Graph,
    chain_to,
    lines,
    longest_chain,
    read_graph,
    schedule,
    span_of,
    start_of,
)
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES, STACK
from hyperpod_stacks.table import stack_names
from tests.conftest import Assemble
from tests.support.commands import run

FIRST, SECOND = start_of("first"), start_of("second")
EKS, ENTRY = Address("first", "Eks"), Address("first", "Entry")
NAT, RELEASE = Address("first", "Nat"), Address("second", "Release")
TYPES = {
    FIRST: STACK,
    SECOND: STACK,
    EKS: "AWS::EKS::Cluster",
    ENTRY: "AWS::EKS::AccessEntry",
    NAT: "AWS::EC2::NatGateway",
    RELEASE: "Custom::HelmRelease",
}
GRAPH = Graph(
    types=TYPES,
    names={address: address.logical_id for address in TYPES},
    needs={
        FIRST: frozenset(),
        EKS: frozenset({FIRST}),
        ENTRY: frozenset({FIRST, EKS}),
        NAT: frozenset({FIRST}),
        SECOND: frozenset({EKS, ENTRY, NAT}),
        RELEASE: frozenset({SECOND}),
    },
)


def seconds(name: str) -> int:
    return RESOURCE_TYPES[name].seconds


def test_a_stack_waits_for_all_of_the_one_before_it() -> None:
    spans = schedule(GRAPH)

    assert longest_chain(spans) == [FIRST, EKS, ENTRY, SECOND, RELEASE]
    assert chain_to(NAT, spans) == [FIRST, NAT]
    assert spans[RELEASE].done == sum(
        seconds(TYPES[each]) for each in (FIRST, EKS, ENTRY, SECOND, RELEASE)
    )
    assert span_of([NAT, EKS], spans) == (seconds(STACK), spans[EKS].done)


def test_express_mode_goes_on_but_for_what_aws_refuses_until_it_is_ready() -> None:
    spans = schedule(GRAPH, express=True)

    # CloudFormation goes on at once; the entry is refused until the control plane is there.
    assert spans[EKS].done < spans[EKS].ready == seconds(STACK) + seconds("AWS::EKS::Cluster")
    assert spans[ENTRY].start == spans[EKS].ready
    # It waits for what is not its own.
    assert spans[RELEASE].done - spans[RELEASE].start == seconds("Custom::HelmRelease")
    assert spans[RELEASE].done <= schedule(GRAPH)[RELEASE].done


def test_what_is_referred_to_is_told_from_what_only_comes_before() -> None:
    assert GRAPH.before(RELEASE) == {FIRST, EKS, ENTRY, NAT, SECOND}
    assert GRAPH.before(RELEASE, across_stacks=False) == {SECOND}


def test_every_duration_that_has_a_source_names_a_page() -> None:
    sources = [row.source for row in RESOURCE_TYPES.values() if row.source is not None]
    assert len(sources) > 3
    assert all(source.startswith("https://") for source in sources)
    assert RESOURCE_TYPES["AWS::EC2::Route"].source is None


def test_a_page_has_the_chain_each_stack_and_the_sources(
    default_config: Config, assemble: Assemble
) -> None:
    graph = read_graph(assemble(default_config).directory)
    said = [*lines(graph, name="config/default.yaml")]

    assert said[0] == "config/default.yaml: the longest chain of a first deployment"
    total = next(line for line in said if line.endswith("in all"))
    assert said[said.index(total) - 1].split()[2:4] == ["ml-hyperpod", "Custom::DeletionCheck"]
    stacks = {line.split()[2]: line.split()[:2] for line in said if line.count(":") == 2}
    assert stacks.keys() >= {*stack_names(default_config).values()}
    assert stacks["ml-storage"][0] == stacks["ml-platform"][1]
    assert any("AWS::EKS::Cluster: https://" in line for line in said)
    assert any(line.strip().startswith("assumed: ") for line in said)


def test_without_templates_it_says_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("critical-path", "--templates", tmp_path) == 2
    assert "run `make synth` first" in capsys.readouterr().err
