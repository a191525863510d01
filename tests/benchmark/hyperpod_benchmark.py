"""Prints what the largest HyperPod cluster costs the provisioner: time, and bytes on the way.

100 groups of 6,758 instances, every group changed. AWS's own answers take no time here. Run with
`python -m tests.benchmark.hyperpod_benchmark`.
"""

import contextlib
import io
import json
import statistics
from collections.abc import Callable

from hyperpod_cdk.synthesis.refusals import MOST_REQUEST_BYTES
from provisioner.hyperpod.changes import Aim, changes
from provisioner.hyperpod.cluster import HyperPodCluster
from tests.benchmark.benchmark import seconds_of
from tests.support.provisioner import large_cluster
from tests.support.provisioner.cloudformation import Framework, Time, event
from tests.support.provisioner.noted import noted

_RUNS = 15


def main() -> None:
    """Measure and print."""
    before = large_cluster.properties(count=1)
    after = large_cluster.properties(WaitFor="nodes")
    old, new = json.loads(before["Request"]), json.loads(after["Request"])
    sent = event("Update", "Custom::HyperPodCluster", after, old=before)
    print(f"{large_cluster.GROUPS} groups of {large_cluster.INSTANCES:,} instances, all changed:")
    sagemaker = large_cluster.LargeSageMaker(requested=old)
    described = sagemaker.describe_cluster(ClusterName=large_cluster.NAME)
    aim, notes = Aim(wanted=new, former=old), noted(old)
    print(f"  changes: {_milliseconds(lambda: changes(aim, described, {}, notes)):.1f} ms")
    handlers = _milliseconds(lambda: _update(before, after))
    print(f"  update, on_event and is_complete: {handlers:.1f} ms")
    print(f"  request: {len(after['Request']):,} bytes, at most {MOST_REQUEST_BYTES:,}")
    print(f"  event of an update: {len(json.dumps(sent)):,} bytes, at most 262,144")


def _update(before: dict[str, str], after: dict[str, str]) -> None:
    sagemaker = large_cluster.LargeSageMaker(requested=json.loads(before["Request"]))
    framework = Framework(
        resource=HyperPodCluster(
            sagemaker=sagemaker,
            delete_node_objects=lambda *_: None,
        ),
        resource_type="Custom::HyperPodCluster",
        time=Time(),
        physical_id=large_cluster.NAME,
        properties=before,
    )
    with contextlib.redirect_stdout(io.StringIO()):
        framework.update(after)


def _milliseconds(action: Callable[[], object]) -> float:
    return statistics.median(seconds_of(action) for _ in range(_RUNS)) * 1000


if __name__ == "__main__":
    main()
