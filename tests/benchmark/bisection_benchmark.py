"""Prints what it takes to find what is slow among 1,000 nodes: rounds, tests, and nodes in them.

Run with `python -m tests.benchmark.bisection_benchmark`.
"""

from hyperpod_cli.operate.validation.bisection import Diagnosis, Nodes, next_step
from tests.support.fabric import Fabric, names

_NODES = names(1000)
_CASES = {
    "nothing": Fabric(),
    "one slow node": Fabric(slow={_NODES[617]}),
    "two slow nodes": Fabric(slow={_NODES[3], _NODES[998]}),
    "20 slow nodes of one switch": Fabric(slow={*_NODES[500:520]}),
    "a slow link between two nodes": Fabric(links=[(_NODES[250:251], _NODES[871:872])]),
    "a slow link between two switches of 32": Fabric(links=[(_NODES[64:96], _NODES[640:672])]),
    "a slow node and a slow link": Fabric(
        slow={_NODES[7]}, links=[(_NODES[64:96], _NODES[640:672])]
    ),
}


def main() -> None:
    """Search each case, and print what it took."""
    print(f"{'case':42}{'rounds':>7}{'tests':>7}{'largest':>8}{'nodes in all':>13}")
    for case, fabric in _CASES.items():
        slow: dict[Nodes, bool] = {}
        rounds = 0
        while not isinstance(step := next_step(_NODES, slow), Diagnosis):
            rounds += 1
            slow |= {group: fabric.is_slow(group) for group in step}
        sizes = [len(group) for group in slow]
        print(f"{case:42}{rounds:7}{len(sizes):7}{max(sizes):8}{sum(sizes):13}")


if __name__ == "__main__":
    main()
