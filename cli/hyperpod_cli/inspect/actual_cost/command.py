"""Shows what a month of the nodes cost by team."""

import calendar
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.table import Table

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.session import aws_session
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.inspect.actual_cost.query import Workspace
from hyperpod_cli.inspect.actual_cost.usage import Month, Part, month_of, nodes_query, usage_query
from hyperpod_cli.operate.clusters import find_cluster
from hyperpod_cli.terminal.console import console, in_utc, print_json
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import make_command
from hyperpod_stacks.table import stack_name

# A month of samples is below the 11,000 that Prometheus answers at most.
_STEP = timedelta(minutes=15)


def run(*, config: Path, month: str | None, as_json: bool) -> None:
    """Show who used the nodes in a month, what stood idle, and what that costs.

    Args:
        config: The configuration.
        month: Such as 2026-11. Default: this month.
        as_json: Whether a program reads it.

    Raises:
        OpsError: Nothing records it, or the month is none.
    """
    start, end = _bounds(month, now=datetime.now(UTC))
    loaded = load_config(config)
    _require_metrics(loaded, config)
    session = aws_session(config=loaded)
    stack = stack_name(loaded, "operators")
    endpoint = outputs_of(session.client("cloudformation"), stack).get("PrometheusEndpoint")
    if endpoint is None:
        raise OpsError(
            f"--actual: {stack} has no output PrometheusEndpoint, so observability.prometheus is "
            f"not deployed; run {make_command('deploy', config)}"
        )
    cluster = find_cluster(
        session.client("sagemaker"),
        loaded.cluster.name,
        deployed_by=make_command("deploy", config),
    )
    workspace = Workspace(endpoint=endpoint.rstrip("/"), session=session)
    nodes, used = (
        workspace.series(query, start=start, end=end, step_seconds=int(_STEP.total_seconds()))
        for query in (nodes_query(cluster.id), usage_query(cluster.id))
    )
    found = month_of(nodes, used, step_seconds=int(_STEP.total_seconds()), region=session.region)
    if found is None:
        raise OpsError(
            f"--month: {start:%Y-%m} has no metrics of {cluster.name} ({cluster.id}) in "
            f"{workspace.endpoint}; they begin with observability.prometheus"
        )
    if as_json:
        print_json({**asdict(found), "since": in_utc(found.since), "until": in_utc(found.until)})
        return
    _show(found, cluster=cluster.name)


def _bounds(month: str | None, *, now: datetime) -> tuple[datetime, datetime]:
    """Return the first time of a month, and the last that has been."""
    text = f"{now:%Y-%m}" if month is None else month
    parts = re.fullmatch(r"(20\d\d)-(0[1-9]|1[0-2])", text)
    if parts is None:
        raise OpsError(f"--month: {text!r} must be a year and a month, such as {now:%Y-%m}")
    start = datetime(int(parts[1]), int(parts[2]), 1, tzinfo=UTC)
    if start > now:
        raise OpsError(f"--month: {text!r} has not begun; the last is {now:%Y-%m}")
    days = calendar.monthrange(start.year, start.month)[1]
    # A sample stands for the time that follows it.
    return start, min(now, start + timedelta(days=days) - _STEP)


def _require_metrics(config: Config, path: Path) -> None:
    if config.control_plane is None:
        raise OpsError(
            f"--actual: {path} has Slurm, whose own records say who used nodes: with "
            "cluster.slurm.accounting, run `sreport cluster AccountUtilizationByUser` on the "
            "controller"
        )
    if not config.cluster.exists:
        raise OpsError(
            f"--actual: {path} has no HyperPod cluster (cluster: null), and its metrics come with "
            "one; AWS's Cost Explorer has costs by tag (docs/cost.md)"
        )
    if config.observability.prometheus is None:
        raise OpsError(
            f"--actual: nothing records who uses the nodes of {path}; switch on "
            "observability.prometheus and deploy, and the figures begin then"
        )


def _show(month: Month, *, cluster: str) -> None:
    out = console()
    out.print(
        f"{cluster} from {in_utc(month.since)} to {in_utc(month.until)} UTC, by metrics of every "
        f"{_STEP.seconds // 60} minutes, at list prices"
    )
    out.print("")
    table = Table(box=None, pad_edge=False)
    table.add_column("team", overflow="fold")
    for head in ("node-hours", "of accelerated", "USD"):
        table.add_column(head, justify="right")
    for part in month.parts:
        share = "" if part.share is None else f"{part.share:.0%}"
        table.add_row(part.name, f"{part.node_hours:,.1f}", share, _usd(part))
    out.print(table)


def _usd(part: Part) -> str:
    if part.usd is None:
        return "unknown"
    return f"{'about ' if part.is_estimate and part.usd else ''}{part.usd:,.2f}"
