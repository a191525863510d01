"""Shows what a month of the nodes cost by team, or by account of Slurm."""

import calendar
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.session import AwsClient, aws_session
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.inspect.actual_cost.query import series
from hyperpod_cli.inspect.actual_cost.records import Records, command_for, read_records
from hyperpod_cli.inspect.actual_cost.slurm import are_of_another, month_of_records
from hyperpod_cli.inspect.actual_cost.usage import Month, Part, month_of, nodes_query, usage_query
from hyperpod_cli.operate.clusters import DescribedCluster, find_cluster, nodes_of
from hyperpod_cli.terminal.console import console, in_utc, print_json, read_given, table
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import stack_name

# A month of samples is below the 11,000 that Prometheus answers at most.
_STEP = timedelta(minutes=15)


def run(*, config: Path, month: str | None, records: Path | None, as_json: bool) -> None:
    """Show who used the nodes in a month, what stood idle, and what that costs.

    Without a month, it is this one. Records are for clusters with Slurm; `-` stands for standard
    input.
    """
    now = datetime.now(UTC)
    start, end = _bounds(month, now=now)
    loaded = load_config(config)
    if loaded.control_plane is None:
        kept = _records_of(loaded, config, records=records, start=start, end=end)
        report = _by_records(kept, loaded, config, start=start, end=end)
        head, source = "account", "by Slurm's records"
    else:
        if records is not None:
            raise OpsError("--records: is for clusters with Slurm; omit it")
        # A sample stands for the time that follows it.
        report = _by_metrics(loaded, config, start=start, end=min(now, end - _STEP))
        head, source = "team", f"by metrics of every {_STEP.seconds // 60} minutes"
    if as_json:
        print_json({**asdict(report), "since": in_utc(report.since), "until": in_utc(report.until)})
        return
    _show(report, cluster=loaded.cluster.name, head=head, source=source)


def _by_metrics(loaded: Config, config: Path, *, start: datetime, end: datetime) -> Month:
    _require_metrics(loaded, config)
    if os.environ.get("AWS_ENDPOINT_URL"):
        raise OpsError("--actual: the local AWS keeps no metrics; run it on a deployment to AWS")
    session = aws_session(config=loaded)
    stack = stack_name(loaded, "operators")
    endpoint = outputs_of(session.client("cloudformation"), stack).get("PrometheusEndpoint")
    if endpoint is None:
        raise OpsError(
            f"--actual: {stack} has no output PrometheusEndpoint, so observability.prometheus is "
            f"not deployed; run {command_line('deploy', config)}"
        )
    cluster = _cluster_of(loaded, config, sagemaker=session.client("sagemaker"))
    endpoint, step = endpoint.rstrip("/"), int(_STEP.total_seconds())
    nodes, used = (
        series(query, endpoint=endpoint, session=session, start=start, end=end, step_seconds=step)
        for query in (nodes_query(cluster.id), usage_query(cluster.id))
    )
    teams = {name: team.name for team in loaded.teams for name in team.namespaces}
    month = month_of(nodes, used, step_seconds=step, region=session.region, teams=teams)
    if month is None:
        raise OpsError(
            f"--month: {start:%Y-%m} has no metrics of {cluster.name} ({cluster.id}) in "
            f"{endpoint}; they begin with observability.prometheus"
        )
    return month


def _records_of(
    loaded: Config, config: Path, *, records: Path | None, start: datetime, end: datetime
) -> Records:
    if records is None:
        if loaded.cluster.accounting is None:
            raise OpsError(
                f"--actual: cluster.slurm.accounting of {config} is null, so records of who used "
                "nodes are lost with the controller; turn it on and deploy; records begin then"
            )
        connect = command_line("connect controller", config)
        raise OpsError(
            f"--actual: the records of {config} are on the controller (`{connect}`); run "
            f"there `{command_for(f'{start:%F}', f'{end:%F}')}` and give "
            "what it prints with --records FILE, or - for standard input"
        )
    text = read_given(records, option="--records")
    month = read_records(text, place=str(records))
    if month.month != f"{start:%Y-%m}":
        raise OpsError(
            f"--records: {records} is of {month.month}, and not of {start:%Y-%m}; name its month "
            "with --month, or ask Slurm again"
        )
    return month


def _by_records(
    records: Records, loaded: Config, config: Path, *, start: datetime, end: datetime
) -> Month:
    session = aws_session(config=loaded)
    sagemaker = session.client("sagemaker")
    cluster = _cluster_of(loaded, config, sagemaker=sagemaker)
    nodes = nodes_of(sagemaker, cluster.name)
    if are_of_another(records, nodes=nodes, groups=cluster.groups, end=end):
        raise OpsError(
            f"--records: name no compute node that {cluster.name} has, so they are of another "
            "cluster; run the command on this one's controller, or name the other's configuration"
        )
    month = month_of_records(
        records,
        nodes=nodes,
        groups=cluster.groups,
        start=start,
        end=end,
        region=session.region,
    )
    if month is None:
        raise OpsError(
            f"--records: has no node and no job of {start:%Y-%m}; Slurm's records begin with "
            "cluster.slurm.accounting"
        )
    return month


def _cluster_of(loaded: Config, config: Path, *, sagemaker: AwsClient) -> DescribedCluster:
    return find_cluster(
        sagemaker,
        loaded.cluster.name,
        deployed_by=command_line("deploy", config),
        options="another FILE",
    )


def _bounds(month: str | None, *, now: datetime) -> tuple[datetime, datetime]:
    """Return when a month begins, and when it ends."""
    text = f"{now:%Y-%m}" if month is None else month
    parts = re.fullmatch(r"(20\d\d)-(0[1-9]|1[0-2])", text)
    if parts is None:
        raise OpsError(f"--month: {text!r} must be a year and a month, such as {now:%Y-%m}")
    start = datetime(int(parts[1]), int(parts[2]), 1, tzinfo=UTC)
    if start > now:
        raise OpsError(f"--month: {text!r} has not begun; the last is {now:%Y-%m}")
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])


def _require_metrics(config: Config, path: Path) -> None:
    if not config.cluster.exists:
        raise OpsError(
            f"--actual: {path} has no HyperPod cluster (cluster: null), and there are no metrics "
            "without one; AWS's Cost Explorer has costs by tag (docs: recipes)"
        )
    if config.observability.prometheus is None:
        raise OpsError(
            f"--actual: nothing records who uses the nodes of {path}; turn on "
            "observability.prometheus and deploy; records begin then. AWS's Cost Explorer has "
            "costs by tag (docs: recipes)"
        )


def _show(month: Month, *, cluster: str, head: str, source: str) -> None:
    out = console()
    out.print(
        f"{cluster} from {in_utc(month.since)} to {in_utc(month.until)}, {source}, at list prices"
    )
    out.print("")
    numbers = ("node-hours", "of accelerated", "USD")
    rows = table(head, *numbers, numbers=numbers)
    for part in month.parts:
        rows.add_row(part.name, *_amounts(part))
        for user in part.users:
            rows.add_row(f"  {user.name}", *_amounts(user))
    out.print(rows)
    if month.unpriced:
        out.print("")
        out.print(f"No price is known of {', '.join(month.unpriced)} (docs: cost)")


def _amounts(part: Part) -> tuple[str, str, str]:
    share = "" if part.share is None else f"{part.share:.0%}"
    return f"{part.node_hours:,.1f}", share, _usd(part)


def _usd(part: Part) -> str:
    if part.usd is None:
        return "unknown"
    return f"{'about ' if part.is_estimate and part.usd else ''}{part.usd:,.2f}"
