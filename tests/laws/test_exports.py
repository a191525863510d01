"""No stack stops another's update: what one takes of another is exported whether it is used or not.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
"""

from pathlib import Path

import aws_cdk as cdk
import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_stacks.deployment import add_stacks
from tests.laws.test_laws import EVERYWHERE
from tests.support.assembly import new_app

# Together they have every stack that others use; the rest is left to `make test-all`.
IN_MAKE_TEST = {"default", "slurm-accounting", "every_field"}


def exports(app: cdk.App) -> set[str]:
    """Return the paths of the exports that the stacks of an app have so far."""
    made = [stack.node.try_find_child("Exports") for stack in app.node.children]
    return {child.node.path for exports in made if exports for child in exports.node.children}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in IN_MAKE_TEST else pytest.mark.whole)
        for path in EVERYWHERE
    ],
    ids=lambda path: path.stem,
)
def test_no_export_is_made_only_because_it_is_used(path: Path, chart: Path, tmp_path: Path) -> None:
    app = new_app(tmp_path)
    add_stacks(app, config=load_config(path), chart=read_hyperpod_chart(chart))
    before = exports(app)

    # Only then CDK makes those that a stack lacks.
    app.synth()

    assert exports(app) == before
