"""Who calls, what the access policies of EKS allow them, and the review by which they ask.

`access_policies.json` has the tables of
https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html, without the API
group `extensions`, which Kubernetes no longer serves. AmazonSagemakerHyperpodTrainingPolicy is in
words only, at https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-studio-setup-eks.html.

Of an EKS token, STS says who signed it, and the access entries what they may. MiniStack's own
TokenReview endpoint wants a secret that only a cluster container gets, so the presigned request in
the token is sent to its STS instead, which verifies the signature.
"""

import asyncio
import base64
import binascii
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, urlsplit

import aiohttp
import boto3
from botocore.exceptions import ClientError
from yarl import URL

from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object, qualified
from hyperpod_emulator.kubernetes.objects.resources import ApiResource

_ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Verbs on resources of an API group; `*` is any.

    Attributes:
        resources: Plural names, or with a subresource: `pods/log`.
    """

    group: str
    resources: Sequence[str]
    verbs: Sequence[str]

    def allows(self, *, verb: str, group: str, resource: str) -> bool:
        """Whether the rule allows a verb on a resource, which may have a subresource."""
        return (
            self.group in (_ANY, group)
            and (_ANY in self.resources or resource in self.resources)
            and (_ANY in self.verbs or verb in self.verbs)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """An access policy, and where it holds."""

    policy: str
    namespaces: Sequence[str] = ()

    def allows(self, *, verb: str, group: str, resource: str, namespace: str) -> bool:
        """Whether it allows a verb on a resource in a namespace, empty for none."""
        return self._holds_in(namespace) and any(
            rule.allows(verb=verb, group=group, resource=resource)
            for rule in _policies().get(self.policy, ())
        )

    def _holds_in(self, namespace: str) -> bool:
        return not self.namespaces or any(
            namespace and fnmatchcase(namespace, pattern) for pattern in self.namespaces
        )


@cache
def _policies() -> Mapping[str, Sequence[Rule]]:
    tables = json.loads(
        Path(__file__).with_name("access_policies.json").read_text(encoding="utf-8")
    )
    return {name: tuple(Rule(**rule) for rule in rules) for name, rules in tables.items()}


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    Attributes:
        allowed: Whether the caller may do everything, as a cluster administrator.
        grants: What a caller who is not allowed everything may still do.
        of_aws: Whether it is AWS itself, which injected faults do not hit.
    """

    username: str
    groups: tuple[str, ...] = ("system:authenticated",)
    allowed: bool = False
    grants: tuple[Grant, ...] = ()
    of_aws: bool = False


# Returns the principal of a bearer token; None when the token is not valid.
Authenticate = Callable[[str], Awaitable[Principal | None]]


def static_tokens(principals: Mapping[str, Principal]) -> Authenticate:
    """Return an authenticator that knows a fixed set of tokens."""

    async def authenticate(token: str) -> Principal | None:
        return principals.get(token)

    return authenticate


def may(principal: Principal, *, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Say whether a principal may use a verb on a resource, or a part of it (`pods/log`).

    No namespace means all of them, or what lives in none.
    """
    return principal.allowed or any(
        grant.allows(verb=verb, group=group, resource=resource, namespace=namespace)
        for grant in principal.grants
    )


def forbidden(
    principal: Principal, *, verb: str, resource: ApiResource, namespace: str, name: str
) -> ApiError:
    """Return the refusal of an act on a resource, in the API server's words."""
    plural = qualified(plural=resource.plural, group=resource.group)
    subject = f'{plural} "{name}"' if name else plural
    scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    message = (
        f'{subject} is forbidden: User "{principal.username}" cannot {verb} resource '
        f'"{resource.plural}" in API group "{resource.group}" {scope}'
    )
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return ApiError(403, "Forbidden", message, details)


def _access(principal: Principal, spec: Object) -> Object:
    attributes = spec.get("resourceAttributes")
    if attributes is None:
        return {"allowed": principal.allowed}
    resource, part = attributes.get("resource", ""), attributes.get("subresource", "")
    allowed = may(
        principal,
        verb=attributes.get("verb", ""),
        group=attributes.get("group", ""),
        resource=f"{resource}/{part}" if part else resource,
        namespace=attributes.get("namespace", ""),
    )
    return {"allowed": allowed}


ACCESS_REVIEW = ("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
"""Group, version and plural of what `kubectl auth can-i` asks."""


def reviewed(body: Object, *, principal: Principal) -> Object:
    """Return an answered SelfSubjectAccessReview."""
    spec = body.get("spec") or {}
    return {**body, "metadata": {}, "spec": spec, "status": _access(principal, spec)}


_PREFIX = "k8s-aws-v1."
_CLUSTER_HEADER = "x-k8s-aws-id"
_STS_HOST = re.compile(r"sts\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_ASSUMED_ROLE = re.compile(r"arn:([^:]+):sts::(\d+):assumed-role/([^/]+)/.+")
_MOST_EXPIRES = 900  # seconds; aws-iam-authenticator refuses longer ones
_REMEMBERED = 5.0  # seconds an answer is kept
_ADMIN = Grant(policy="AmazonEKSClusterAdminPolicy")


def eks_tokens(gateway_url: str, cluster_name: str, *, session: boto3.Session) -> Authenticate:
    """Return an authenticator for the tokens that name one EKS cluster of a local AWS.

    The session is in the cluster's region, and reads its access entries.
    """
    entries = _AccessEntries(session=session, gateway_url=gateway_url, cluster=cluster_name)
    remembered: dict[str, tuple[float, Principal | None]] = {}

    async def authenticate(token: str) -> Principal | None:
        until, principal = remembered.get(token, (0.0, None))
        if time.monotonic() < until:
            return principal
        url = _presigned_url(token, gateway=urlsplit(gateway_url))
        arn = await _caller(url, gateway_url=gateway_url, cluster=cluster_name) if url else None
        principal = await asyncio.to_thread(entries.principal, arn) if arn else None
        for old in [key for key, (end, _) in remembered.items() if end <= time.monotonic()]:
            del remembered[old]
        remembered[token] = (time.monotonic() + _REMEMBERED, principal)
        return principal

    return authenticate


def _presigned_url(token: str, *, gateway: SplitResult) -> SplitResult | None:
    """The request inside a token; None unless it is a presigned GetCallerIdentity of STS.

    `aws eks get-token` signs for the endpoint of its environment: AWS_ENDPOINT_URL is the gateway.
    """
    encoded = token.removeprefix(_PREFIX)
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        url = urlsplit(base64.urlsafe_b64decode(padded).decode())
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    query = {name.lower(): values[0] for name, values in parse_qs(url.query).items()}
    signed = query.get("x-amz-signedheaders", "").split(";")
    expires = query.get("x-amz-expires", "")
    sound = (
        token.startswith(_PREFIX)
        and (_is_sts(url) or (url.scheme, url.netloc) == (gateway.scheme, gateway.netloc))
        and query.get("action") == "GetCallerIdentity"
        and _CLUSTER_HEADER in signed
        and expires.isdigit()
        and int(expires) <= _MOST_EXPIRES
    )
    return url if sound else None


def _is_sts(url: SplitResult) -> bool:
    return url.scheme == "https" and _STS_HOST.fullmatch(url.netloc) is not None


async def _caller(url: SplitResult, *, gateway_url: str, cluster: str) -> str | None:
    """The ARN that STS gives for the presigned request, None when it refuses it."""
    target = URL(f"{gateway_url.rstrip('/')}/?{url.query}", encoded=True)
    headers = {"Host": url.netloc, _CLUSTER_HEADER: cluster, "Accept": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(target, headers=headers) as response,
    ):
        text = await response.text()
    match = re.search(r"<Arn>([^<]+)</Arn>|\"Arn\":\s*\"([^\"]+)\"", text)
    return (match[1] or match[2]) if match and response.ok else None


class _AccessEntries:
    """What the access entries of a cluster give to a caller."""

    def __init__(self, *, session: boto3.Session, gateway_url: str, cluster: str) -> None:
        self._eks = session.client("eks", endpoint_url=gateway_url)
        self._cluster = cluster

    def principal(self, arn: str) -> Principal | None:
        """Return the principal an ARN has in the cluster; None without an access entry."""
        entry_arn = self._entry_of(arn)
        if entry_arn is None:
            return None
        where = {"clusterName": self._cluster, "principalArn": entry_arn}
        entry = self._eks.describe_access_entry(**where)["accessEntry"]
        pages = self._eks.get_paginator("list_associated_access_policies").paginate(**where)
        grants = tuple(
            Grant(
                policy=policy["policyArn"].rsplit("/", 1)[-1],
                namespaces=tuple(policy["accessScope"].get("namespaces", ())),
            )
            for page in pages
            for policy in page["associatedAccessPolicies"]
        )
        return Principal(
            username=entry.get("username") or arn,
            groups=("system:authenticated", *entry.get("kubernetesGroups", ())),
            allowed=_ADMIN in grants,
            grants=grants,
        )

    def _entry_of(self, arn: str) -> str | None:
        """The principal ARN of the access entry that covers a caller."""
        pages = self._eks.get_paginator("list_access_entries").paginate(clusterName=self._cluster)
        try:
            entries: list[str] = [entry for page in pages for entry in page["accessEntries"]]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return None
            raise
        session = _ASSUMED_ROLE.fullmatch(arn)
        if session is None:
            return arn if arn in entries else None
        # The session's ARN lacks the path of the role, which the access entry names.
        partition, account, role = session.groups()
        pattern = re.compile(rf"arn:{partition}:iam::{account}:role/(.+/)?{re.escape(role)}")
        return next((entry for entry in entries if pattern.fullmatch(entry)), None)
