"""`hyperpod-cdk images`, and the checks of closed networks, know every image of the own charts.

A node of a closed network pulls from ECR in its own region alone:
https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""

import json
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hyperpod_cdk.config.own_images import own_images
from hyperpod_cdk.helm.release import chart_digest
from tests.support.chart_rendering import template
from tests.support.configs import REPOSITORY
from tests.support.laws import Deployment, Resource

# Also in what a chart hands on as a text: the Jobs that its controllers make.
_IMAGE = re.compile(r"""\bimage['"]?:\s*['"]?([^\s'",}]+)""")


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each image that a release pulls, and of which nothing tells."""
    known = {image.used for image in own_images(deployment.config)}
    return [
        release.violation(f"an image that is not listed: {image}", allowed="what own_images has")
        for release in deployment.of_type("Custom::HelmRelease")
        for image in sorted({*_pulled(deployment, release)} - known)
    ]


@cache
def _charts() -> dict[str, Path]:
    """Return the folder of each chart of this project, by the digest in templates."""
    folders = [path.parent for path in (REPOSITORY / "charts").glob("*/Chart.yaml")]
    return {chart_digest(folder): folder for folder in folders}


def _pulled(deployment: Deployment, release: Resource) -> Iterator[str]:
    chart = _charts().get(release.properties.get("ChartDigest", ""))
    if chart is not None:
        values = json.loads(deployment.text(release.stack, release.properties.get("Values", "{}")))
        with tempfile.TemporaryDirectory() as home:
            # IDs that AWS draws are made up.
            arguments = ("it", chart, "--skip-schema-validation")
            yield from _IMAGE.findall(template(*arguments, values=values, home=Path(home)))
