"""The longest chain of resources of a first deployment: what needs what, and how long it takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from hyperpod_cli.aws.assembly import (
    CDK_METADATA,
    Address,
    construct_paths,
    stacks_by_name,
    stacks_in,
)

STACK = "AWS::CloudFormation::Stack"
"""Stands for what comes before the first resource of a stack: its change set."""

_EKS, _FSX = "AWS::EKS::Cluster", "AWS::FSx::FileSystem"
# 15 to 25 minutes until the cluster is in service, and its nodes with it.
_HYPERPOD = (
    "https://github.com/awslabs/awsome-distributed-ai/blob/95b939cdc5b24ded03a70da21533964f9354b731/"
    "1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/hyperpod-mental-model.md"
)
# Ten minutes and six seconds, and the add-ons after it.
_EKS_ADDONS = "https://github.com/terraform-aws-modules/terraform-aws-eks/pull/3218"


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """How long a resource takes from the first call until it is ready.

    Attributes:
        seconds: In standard mode.
        source: Where the number is from; None if it is assumed.
        waits_for: Types of what it needs that must be ready before AWS takes the call. In express
            mode, CloudFormation does not wait for them, but repeats the call until they are.
    """

    seconds: int
    source: str | None = None
    waits_for: tuple[str, ...] = ()


CALL_SECONDS = 5
"""How long express mode takes for a resource that it does not wait for; assumed."""

OTHER = Duration(seconds=10)
"""What is made in seconds, and is not listed."""

DURATIONS: Mapping[str, Duration] = {
    STACK: Duration(seconds=20),
    # What Terraform's logs in public repositories say: 94 to 105 seconds.
    "AWS::EC2::NatGateway": Duration(seconds=105),
    "AWS::EC2::VPCEndpoint": Duration(seconds=60),
    "AWS::EC2::InternetGateway": Duration(seconds=15),
    "AWS::EC2::EIP": Duration(seconds=15),
    "AWS::IAM::ManagedPolicy": Duration(seconds=20),
    "AWS::IAM::Policy": Duration(seconds=15),
    "AWS::IAM::Role": Duration(seconds=20),
    "AWS::KMS::Key": Duration(seconds=60),
    "AWS::S3::Bucket": Duration(seconds=20),
    _EKS: Duration(seconds=606, source=_EKS_ADDONS),
    "AWS::EKS::AccessEntry": Duration(
        seconds=5,
        source="https://github.com/DevopsArtFactory/terraform-provisioning/pull/47",
        waits_for=(_EKS,),
    ),
    # EKS says UPDATING for minutes; assumed.
    "Custom::EksAuthenticationMode": Duration(seconds=180),
    "AWS::EKS::Addon": Duration(seconds=35, waits_for=(_EKS,)),
    "AWS::EKS::PodIdentityAssociation": Duration(seconds=5, waits_for=(_EKS,)),
    _FSX: Duration(seconds=600, source="https://github.com/aws-samples/aws-hpc-tutorials/pull/289"),
    "AWS::FSx::DataRepositoryAssociation": Duration(
        seconds=600,
        source="https://github.com/aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow/issues/112",
        waits_for=(_FSX,),
    ),
    "AWS::SageMaker::Cluster": Duration(seconds=1200, source=_HYPERPOD, waits_for=(_EKS,)),
    "Custom::DeletionCheck": Duration(seconds=10),
    "Custom::FileSystemAvailability": Duration(seconds=10, waits_for=(_FSX,)),
    "Custom::HelmRelease": Duration(seconds=60, waits_for=(_EKS,)),
    "Custom::HyperPodCluster": Duration(seconds=1200, source=_HYPERPOD, waits_for=(_EKS,)),
    "Custom::LifecycleScripts": Duration(seconds=30),
}
"""By resource type: a first deployment in a quiet region, without deep health checks."""


def duration_of(resource_type: str) -> Duration:
    """Return how long a resource of a type takes."""
    return DURATIONS.get(resource_type, OTHER)


def is_custom(resource_type: str) -> bool:
    """Tell whether CloudFormation waits for a resource in express mode, too.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
    """
    return resource_type.startswith("Custom::") or resource_type == STACK


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The resources of a deployment, and the start of each of its stacks.

    Attributes:
        types: The resource type of each.
        names: The path of its construct in its stack; its logical ID if the template has no paths.
        needs: What must be there before it, directly.
    """

    types: Mapping[Address, str]
    names: Mapping[Address, str]
    needs: Mapping[Address, frozenset[Address]]

    @property
    def stacks(self) -> list[str]:
        """The names of the stacks."""
        return [address.stack for address in self.types if address == start_of(address.stack)]

    def of_type(self, resource_type: str) -> list[Address]:
        """Return the resources of a type."""
        return [address for address, found in self.types.items() if found == resource_type]

    def before(self, address: Address, *, across_stacks: bool = True) -> frozenset[Address]:
        """Return all that must be there before a resource.

        Args:
            address: The resource.
            across_stacks: Whether a stack's start needs the stacks before it. Without, only what
                is referred to counts.
        """
        pending, seen = [address], set[Address]()
        while pending:
            current = pending.pop()
            if not across_stacks and self.types[current] == STACK:
                continue
            new = self.needs[current] - seen
            seen |= new
            pending += new
        return frozenset(seen)


def start_of(stack: str) -> Address:
    """Return what stands for the start of a stack: its change set."""
    return Address(stack, "")


def read_graph(assembly: Path) -> Graph:
    """Read the graph of what was synthesized into a directory.

    Raises:
        OSError: There is no manifest or template.
    """
    resources = {
        address: resource
        for stack in stacks_by_name(assembly)
        for address, resource in stack.resources.items()
        if resource.type != CDK_METADATA
    }
    types = {address: resource.type for address, resource in resources.items()}
    needs = {
        address: frozenset({*resource.needs, start_of(address.stack)})
        for address, resource in resources.items()
    }
    names = {address: address.logical_id for address in resources}
    for stack in stacks_in(assembly):
        start = start_of(stack.name)
        types[start] = STACK
        needs[start] = frozenset(_resources_of(stack.needs, resources))
        paths = construct_paths(stack.template)
        names |= {Address(stack.name, logical_id): path for logical_id, path in paths.items()}
        names[start] = "change set"
    return Graph(types=types, names=names, needs=needs)


def _resources_of(stacks: Iterable[str], resources: Iterable[Address]) -> list[Address]:
    wanted = set(stacks)
    return [address for address in resources if address.stack in wanted]


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The time of one resource, in seconds after the deployment began.

    Attributes:
        start: When its last need was there.
        done: When CloudFormation goes on to what needs it.
        ready: When it can be used; later than `done` in express mode.
        after: What it waited for longest; None for the first.
    """

    start: float
    done: float
    ready: float
    after: Address | None


def schedule(graph: Graph, *, express: bool = False) -> Mapping[Address, Span]:
    """Return the time of each resource, when nothing waits without need.

    Args:
        graph: The resources.
        express: Whether in CloudFormation's express mode.
    """
    spans = dict[Address, Span]()
    for address in TopologicalSorter(graph.needs).static_order():
        duration = duration_of(graph.types[address])
        ends = {need: spans[need].done for need in graph.needs[address]}
        if duration.waits_for:
            ends |= {
                need: spans[need].ready
                for need in graph.before(address)
                if graph.types[need] in duration.waits_for
            }
        after = _latest(ends)
        start = 0 if after is None else ends[after]
        waited = not express or is_custom(graph.types[address])
        seconds = duration.seconds if waited else min(duration.seconds, CALL_SECONDS)
        spans[address] = Span(
            start=start, done=start + seconds, ready=start + duration.seconds, after=after
        )
    return spans


def longest_chain(spans: Mapping[Address, Span]) -> list[Address]:
    """Return what the whole deployment waits for, from its first step to its last."""
    return chain_to(_latest({address: span.done for address, span in spans.items()}), spans)


def chain_to(address: Address | None, spans: Mapping[Address, Span]) -> list[Address]:
    """Return what a resource waits for, from the first step to the resource itself."""
    chain = list[Address]()
    while address is not None:
        chain.append(address)
        address = spans[address].after
    return chain[::-1]


def span_of(addresses: Iterable[Address], spans: Mapping[Address, Span]) -> tuple[float, float]:
    """Return when the first of some resources starts, and when the last is done."""
    found = [spans[address] for address in addresses]
    return min(span.start for span in found), max(span.done for span in found)


def _latest(ends: Mapping[Address, float]) -> Address | None:
    # Of two that end together, always the same one.
    return max(sorted(ends), key=lambda address: ends[address], default=None)


def lines(graph: Graph, *, name: str, express: bool = False) -> Iterator[str]:
    """Yield the longest chain, the time of each stack, and where the durations are from.

    Args:
        graph: The resources.
        name: What is deployed.
        express: Whether in CloudFormation's express mode.
    """
    spans = schedule(graph, express=express)
    chain = longest_chain(spans)
    mode = " in express mode" if express else ""
    yield f"{name}: the longest chain of a first deployment{mode}"
    yield ""
    yield f"{'from':>6}  {'takes':>6}  {'stack':{_width(chain)}}  resource"
    for address in chain:
        span = spans[address]
        what = f"{graph.types[address]}  {graph.names[address]}"
        took = _minutes(span.done - span.start)
        yield f"{_minutes(span.start):>6}  {took:>6}  {address.stack:{_width(chain)}}  {what}"
    yield f"{_minutes(spans[chain[-1]].done):>6}  in all"
    yield ""
    yield "Stacks, from and to:"
    for stack in graph.stacks:
        start, done = span_of((each for each in spans if each.stack == stack), spans)
        yield f"{_minutes(start):>6}  {_minutes(done):>6}  {stack}"
    yield ""
    yield from _sources(graph, chain)
    if express:
        yield f"A call that CloudFormation does not wait for takes {CALL_SECONDS} seconds; assumed."
    yield "Not counted: deep health checks, a shortage of instances, what a retry takes."
    yield "The HyperPod cluster takes as long as with cluster.wait_for: nodes."


def _sources(graph: Graph, chain: Sequence[Address]) -> Iterator[str]:
    types = dict.fromkeys(graph.types[address] for address in chain)
    yield "Where the durations are from:"
    for resource_type in types:
        found = duration_of(resource_type)
        if found.source is not None:
            yield f"{_minutes(found.seconds):>6}  {resource_type}: {found.source}"
    assumed = [each for each in types if duration_of(each).source is None]
    yield f"        assumed: {', '.join(assumed)}"


def _width(chain: Sequence[Address]) -> int:
    return max(len(address.stack) for address in chain)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
