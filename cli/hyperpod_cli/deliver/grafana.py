"""Dashboards and rules as files, and dashboards in a Grafana, by a token that soon expires."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.observability.section import MANAGED
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.grafana import dashboards
from hyperpod_cdk.panels.rules import rules
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.aws.session import AwsClient, AwsSession, aws_session
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_stacks.table import stack_name

DEPLOYED = "deployed"
"""Stands for the address of the workspace that a configuration deploys, or names."""
TOKEN = "GRAFANA_TOKEN"  # noqa: S105 - the name of a variable
"""Environment variable with a token, for a Grafana that is not Amazon Managed Grafana."""
SECONDS_TO_LIVE = 300
"""How long a token of ours is valid: pushing takes seconds."""

# https://docs.aws.amazon.com/grafana/latest/APIReference/API_WorkspaceDescription.html
_MANAGED = re.compile(r"(g-[0-9a-f]{10})\.grafana-workspace\.([a-z0-9-]+)\.amazonaws\.com")
_SENDABLE = re.compile(r"[!-~]+")
_ACCOUNT = "hyperpod-cdk-dashboards"
_TIMEOUT_SECONDS = 30
_DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def files(config: Config) -> dict[str, str]:
    """Return the dashboards and rules of a deployment by the names of their files."""
    seen = watched(config, region=known_region(config))
    made = dashboards(seen)
    if not made:
        raise OpsError(
            f"{config.name}: has no dashboards; with Slurm, there are only dashboards of file "
            "systems"
        )
    rendered = {f"{name}.json": f"{json.dumps(each, indent=1)}\n" for name, each in made.items()}
    # Without Kubernetes, nothing sends metrics to a Prometheus.
    return {**rendered, **({} if seen.eks_cluster_name is None else {"rules.yaml": rules(seen)})}


def write(rendered: Mapping[str, str], *, folder: Path) -> None:
    """Write files into a folder."""
    try:
        for name, text in rendered.items():
            replace_file(folder / name, text, mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"--output: {error}") from None


def host_of(url: str) -> str:
    """Return the host of a Grafana, or refuse it: a token must be there, and may be sent there."""
    try:
        parts = urlsplit(url if _SENDABLE.fullmatch(url) else "")
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    schemes = ("http", "https") if host in ("localhost", "127.0.0.1") else ("https",)
    if not host or parts.scheme not in schemes:
        raise OpsError(
            f"--grafana: {url!r} must be an https:// address, or http://localhost:PORT of "
            "kubectl port-forward; the token is sent to this address"
        )
    if _MANAGED.fullmatch(host) is None and not os.environ.get(TOKEN):
        raise OpsError(
            f"{TOKEN}: is not set; make a service account with the role Editor in this "
            "Grafana, and set it to a token of it that expires within an hour"
        )
    return host


def push(
    rendered: Mapping[str, str], *, url: str, sources: Sequence[Mapping[str, Any]] = ()
) -> list[str]:
    """Put dashboards into a Grafana, in place of those of the same subjects; return where each is.

    Before them it gets the data sources, if any, in place of those of the same `uid`.
    """
    host = host_of(url)
    base = url.rstrip("/")
    found = [json.loads(text) for name, text in rendered.items() if name.endswith(".json")]
    # Data sources are an administrator's: https://grafana.com/docs/grafana/latest/administration/
    # roles-and-permissions/#organization-roles
    with _token(host, role="ADMIN" if sources else "EDITOR") as token:
        grafana = _Grafana(base=base, token=token)
        for source in sources:
            grafana.put_source(source)
        return [f"{base}{grafana.put_dashboard(dashboard)}" for dashboard in found]


def deployed(config: Config) -> tuple[str, list[Mapping[str, Any]]]:
    """Return where the workspace of a deployment is, and the data sources that it is to have."""
    session = aws_session(config=config)
    stack = stack_name(config, "operators")
    grafana = config.observability.grafana
    if grafana is None or grafana.kind != MANAGED:
        instead = "" if grafana is None else "; the one in the cluster has the dashboards already"
        raise OpsError(
            f"--grafana: {DEPLOYED} is for observability.grafana with kind: {MANAGED}{instead}"
        )
    outputs = outputs_of(session.client("cloudformation"), stack)
    missing = [name for name in ("GrafanaUrl", "PrometheusEndpoint") if name not in outputs]
    if missing:
        raise OpsError(
            f"--grafana: {stack} has no output {missing[0]}, so observability.grafana is not "
            "deployed; run hyperpod-cdk deploy"
        )
    endpoint, region = outputs["PrometheusEndpoint"], session.region
    return outputs["GrafanaUrl"], [*_sources(endpoint, region=region)]


def _sources(endpoint: str, *, region: str) -> Iterator[Mapping[str, Any]]:
    """Yield the data sources that the role of a managed workspace reads.

    https://docs.aws.amazon.com/grafana/latest/userguide/AMP-adding-AMP.html
    """
    role = "ec2_iam_role"
    yield {
        "uid": "prometheus",
        "name": "Prometheus",
        "type": "prometheus",
        "access": "proxy",
        "url": endpoint,
        "isDefault": True,
        "jsonData": {
            "httpMethod": "POST",
            "sigV4Auth": True,
            "sigV4AuthType": role,
            "sigV4Region": region,
        },
    }
    yield {
        "uid": "cloudwatch",
        "name": "CloudWatch",
        "type": "cloudwatch",
        "access": "proxy",
        "jsonData": {"authType": role, "defaultRegion": region},
    }


def _token(host: str, *, role: str) -> AbstractContextManager[str]:
    managed = _MANAGED.fullmatch(host)
    if managed is None:
        return nullcontext(os.environ[TOKEN])
    workspace, region = managed.groups()
    return managed_token(AwsSession(region=region).writing_client("grafana"), workspace, role=role)


@contextmanager
def managed_token(client: AwsClient, workspace: str, *, role: str = "EDITOR") -> Iterator[str]:
    """Have a token of Amazon Managed Grafana, which is gone afterwards with its account."""
    named = {"workspaceId": workspace}
    try:
        account = client.create_workspace_service_account(name=_ACCOUNT, grafanaRole=role, **named)
    except client.exceptions.ConflictException:
        raise OpsError(
            f"--grafana: {workspace} has a service account {_ACCOUNT} from another run, or an "
            "interrupted one; wait until that run ends, or delete the account in the workspace"
        ) from None
    except (BotoCoreError, ClientError) as error:
        raise _refused(workspace, error) from None
    try:
        made = client.create_workspace_service_account_token(
            name=_ACCOUNT,
            secondsToLive=SECONDS_TO_LIVE,
            serviceAccountId=account["id"],
            **named,
        )
        yield made["serviceAccountToken"]["key"]
    except (BotoCoreError, ClientError) as error:
        raise _refused(workspace, error) from None
    finally:
        # With its tokens: https://docs.aws.amazon.com/grafana/latest/userguide/service-accounts.html
        client.delete_workspace_service_account(serviceAccountId=account["id"], **named)


def _refused(workspace: str, error: Exception) -> OpsError:
    return OpsError(
        f"--grafana: no token for {workspace}: {error}; give credentials that allow "
        "grafana:CreateWorkspaceServiceAccount, grafana:CreateWorkspaceServiceAccountToken and "
        "grafana:DeleteWorkspaceServiceAccount"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Grafana:
    """A Grafana's HTTP API."""

    base: str
    token: str = field(repr=False)

    def put_dashboard(self, dashboard: Mapping[str, Any]) -> str:
        """Put a dashboard in place of that of the same `uid`; return its path."""
        # https://grafana.com/docs/grafana/latest/developers/http_api/dashboard/
        what = {"dashboard": dashboard, "overwrite": True}
        answer = self._send("POST", "dashboards/db", what, title=dashboard["title"])
        try:
            return str(answer["url"])
        except (KeyError, TypeError):
            raise _no_grafana(self.base) from None

    def put_source(self, source: Mapping[str, Any]) -> None:
        """Put a data source in place of that of the same `uid`."""
        # https://grafana.com/docs/grafana/latest/developers/http_api/data_source/
        title, path = source["name"], f"datasources/uid/{source['uid']}"
        if self._send("PUT", path, source, title=title, or_none=True) is None:
            self._send("POST", "datasources", source, title=title)

    def _send(
        self,
        method: str,
        path: str,
        what: Mapping[str, Any],
        *,
        title: str,
        or_none: bool = False,
    ) -> Any:  # noqa: ANN401 - any JSON value
        """Return what it answers; None where there is no such thing, if that may be."""
        base = self.base
        request = Request(  # noqa: S310 - the scheme was looked at
            f"{base}/api/{path}",
            data=json.dumps(what).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except HTTPError as error:
            if error.code == HTTPStatus.NOT_FOUND and or_none:
                return None
            if error.code in _DENIED:
                raise OpsError(
                    f"--grafana: {base} refuses the token ({error.code}); it needs the role Editor"
                ) from None
            raise OpsError(
                f"--grafana: {base} did not take {title!r}: {error.code} {error.reason}"
            ) from None
        except (URLError, TimeoutError) as error:
            raise OpsError(f"--grafana: {base} cannot be reached: {error}") from None
        except ValueError:
            raise _no_grafana(base) from None


def _no_grafana(base: str) -> OpsError:
    return OpsError(f"--grafana: {base} answers, but not as a Grafana does")
