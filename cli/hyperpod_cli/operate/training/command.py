"""`train`: shows what it submits and what that costs, asks, submits, follows; or stops a job."""

import shlex
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus

import typer
import yaml
from kubernetes.client import ApiException

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import charge_of
from hyperpod_cdk.facts.prices import biller_of
from hyperpod_cdk.workloads.images import base_images
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.operate.clusters import Chosen, chosen_cluster
from hyperpod_cli.operate.job_charts import Connect, Object, built_images, delete, live, submit
from hyperpod_cli.operate.job_options import Given
from hyperpod_cli.operate.orchestrators import eks_cluster_of
from hyperpod_cli.operate.training.checks import check
from hyperpod_cli.operate.training.following import follow as follow_job
from hyperpod_cli.operate.training.request import (
    JOB_KINDS,
    JobRequest,
    place_of_job,
    requested,
)
from hyperpod_cli.terminal.console import require_consent
from hyperpod_cli.terminal.errors import INTERRUPTED, FailedError, OpsError


def run(given: Given) -> None:
    """Submit a job, and follow it. With --dry-run, only print the values that were added.

    FailedError: it was followed, and has failed, or cannot be followed any more.
    """
    chosen, configured = _chosen(given)
    request = requested(
        given, config=configured, built_image=partial(_built_image, chosen, configured)
    )
    connect = _connect(chosen, configured)
    stop = _stop_command(chosen, name=request.name, namespace=request.namespace)
    with connect() as api:
        notes = check(api, request, session=chosen.session, cluster=chosen.name, stop=stop)
    for line in (*_shown(request, region=chosen.session.region), *notes):
        typer.echo(line, err=given.dry_run)
    if given.dry_run:
        typer.echo(yaml.safe_dump(dict(request.added)), nl=False)
        return
    require_consent("Submit?", yes=given.yes, declined="Nothing was submitted.")
    with connect() as api:
        try:
            submit(api, request.objects)
        except ApiException as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            raise OpsError(
                f"{request.job['kind']}: you may not create one in the namespace "
                f"{request.namespace}; list your role in the editors of its team, or under "
                "eks.editors, and deploy"
            ) from None
    typer.echo(f"Submitted. To stop it: {stop}")
    if given.follow:
        _follow(connect, request, stop=stop, every=given.every)


def stop(given: Given) -> None:
    """Delete a job with its pods, its etcd and its network policy; its checkpoints' key stays.

    By default in the namespace of the first claim.
    """
    name = given.name
    if name is None:
        raise OpsError("--name: is missing; name the job to stop")
    chosen, configured = _chosen(given)
    where = place_of_job(given, configured)
    metadata = {"name": name, "namespace": where}
    server = {"name": f"{name}-etcd", "namespace": where}
    jobs: list[Object] = [
        {"apiVersion": job_kind.api_version, "kind": kind, "metadata": metadata}
        for kind, job_kind in JOB_KINDS.items()
    ]
    servers: list[Object] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": server},
        {"apiVersion": "v1", "kind": "Service", "metadata": server},
        {"apiVersion": "v1", "kind": "Secret", "metadata": server},
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata},
    ]
    require_consent(
        f"Stop the job {name} in the namespace {where}? Checkpoints stay.", yes=given.yes
    )
    with _connect(chosen, configured)() as api:
        deleted = delete(
            api, [*jobs, *(server for server in servers if _is_of(live(api, server), name))]
        )
    if not deleted:
        raise OpsError(
            f"name: there is no job {name!r} in the namespace {where}; "
            f"`kubectl get pytorchjobs --all-namespaces` lists them"
        )
    names = (f"{item['kind']} {item['metadata']['name']}" for item in deleted)
    typer.echo(f"Deleted: {', '.join(names)}")


def _is_of(item: Object | None, job: str) -> bool:
    """Tell whether an object is one that the chart has made for a job, not just called so."""
    labels = ((item or {}).get("metadata") or {}).get("labels") or {}
    return labels.get("app.kubernetes.io/instance") == job


def _chosen(given: Given) -> tuple[Chosen, Config]:
    chosen = chosen_cluster(given.config, cluster=None, region=given.region)
    assert chosen.config is not None  # noqa: S101 - no cluster is named instead
    return chosen, chosen.config


def _connect(chosen: Chosen, config: Config) -> Connect:
    return partial(kubernetes_api, chosen.session, eks_cluster=eks_cluster_of(config))


def _stop_command(chosen: Chosen, *, name: str, namespace: str) -> str:
    where = ["--namespace", namespace, *chosen.options]
    return shlex.join(["hyperpod-cdk", "train", "--stop", "--name", name, *where])


def _built_image(chosen: Chosen, config: Config, instance_type: str) -> str | None:
    """Return the image that the deployment has built for the accelerators of an instance type."""
    images = built_images(chosen.session, deployment=config.name)
    return next((images.get(base.name) for base in base_images([instance_type])), None)


def _shown(request: JobRequest, *, region: str) -> Iterator[str]:
    yield f"{request.job['kind']} {request.name} in the namespace {request.namespace}:"
    yield f"  nodes      {request.nodes} x {request.instance_type} of {request.group.name}"
    limits = request.container["resources"]["limits"]
    yield f"  each has   {', '.join(f'{name} {limits[name]}' for name in limits)}"
    yield f"  image      {request.container['image']}"
    command = [*request.container["command"], *request.container["args"]]
    yield f"  runs       {shlex.join(command)}"
    others = [
        f"{item['kind']} {item['metadata']['name']}"
        for item in request.objects
        if item is not request.job
    ]
    yield f"  and        {', '.join(others)}"
    cost = cost_of_nodes(request.group.name, request.nodes, request.instance_type, region=region)
    yield f"  its nodes  {cost}"


def cost_of_nodes(group: str, nodes: int, instance_type: str, *, region: str) -> str:
    """Return what the nodes of a job cost an hour, in words."""
    charge = charge_of(
        group,
        quantity=nodes,
        service=biller_of(instance_type),
        item=instance_type,
        region=region,
    )
    note = f" ({charge.note})" if charge.note else ""
    about = "about " if charge.is_estimate else ""
    amount = "unknown" if charge.usd is None else f"{about}{charge.usd:,.2f} USD an hour"
    return f"{amount}{note}, On-Demand, billed with or without the job"


def _follow(connect: Connect, request: JobRequest, *, stop: str, every: float) -> None:
    try:
        follow_job(
            connect,
            request.job,
            show=typer.echo,
            tell=lambda line: typer.echo(f"{request.name}: {line}", err=True),
            seconds=every,
        )
    except KeyboardInterrupt:
        which = f"-n {request.namespace} -l app.kubernetes.io/instance={request.name}"
        typer.echo(
            "Interrupted. The job keeps running. To see its logs: "
            f"kubectl logs {which} --prefix -f\n"
            f"To stop it: {stop}",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    except FailedError:
        raise
    except OpsError as error:
        raise FailedError(f"{error}. The job may still be running; to stop it: {stop}") from None
    typer.echo(f"{request.name} has succeeded. To delete it: {stop}")
