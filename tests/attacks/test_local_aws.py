"""A neighbour on the machine and a page in a browser get nothing of a rehearsal that runs."""

import ast
import base64
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config as ClientConfig
from botocore.credentials import Credentials

from hyperpod_emulator.aws.local_aws import session_of
from hyperpod_emulator.testing.stacks import deploy, role
from hyperpod_rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from hyperpod_rehearsal.pipeline.places import RegionRouter
from hyperpod_rehearsal.training import image_environment
from hyperpod_shared.eks_token import token_signer
from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

ACCOUNT, REGION, CLUSTER = "111122223333", "us-west-2", "ml-eks"
FORMER = """
from hyperpod_emulator.aws.local_aws import LocalAws
print(LocalAws().environment()["AWS_SECRET_ACCESS_KEY"])
"""
FUNCTION = """
import botocore.session, os
def handler(event, context):
    sts = botocore.session.get_session().create_client("sts")
    return {"arn": sts.get_caller_identity()["Arn"], "environment": {**os.environ}}
"""
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
# What listens, and the only file that calls it.
LISTENS = {
    "TCPSite": "emulator/hyperpod_emulator/background_server.py",
    "ThreadingHTTPServer": "emulator/hyperpod_emulator/testing/site.py",
    "create_server": "rehearsal/hyperpod_rehearsal/loopback/sitecustomize.py",
    "start_server": "rehearsal/hyperpod_rehearsal/pipeline/places.py",
}
LISTENERS = {*LISTENS, "HTTPServer", "TCPServer", "listen", "run_app"}
STORE = """
from torch.distributed import TCPStore
store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
other = TCPStore("localhost", store.port)
other.set("key", "value")
print(store.port, store.get("key").decode(), flush=True)
input()
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request to the local AWS, signed or not; its answer is awaited.

    Attributes:
        key: Who signs it; nobody signs it otherwise.
        in_query: Whether it is presigned.
        added: Headers that are added after it is signed.
        sent: Another body in the place of what is signed.
    """

    method: str = "POST"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"Action=CreateUser&UserName=mallory&Version=2010-05-08"
    key: Credentials | None = None
    in_query: bool = False
    added: Mapping[str, str] = field(default_factory=dict)
    sent: bytes | None = None

    def answer(self, url: str) -> tuple[int, Mapping[str, str], bytes]:
        """Send it to the port of a URL; return status, headers and body of the answer."""
        request = AWSRequest(self.method, f"{url}{self.path}", {**_FORM, **self.headers}, self.body)
        if self.in_query:
            # As presigned URLs are: with all that is asked in them.
            text = self.body.decode()
            request = AWSRequest("GET", f"{url}{self.path}?{text}", {**self.headers}, b"")
        if self.key is not None:
            signer = SigV4QueryAuth if self.in_query else SigV4Auth
            signer(self.key, "iam", "us-east-1").add_auth(request)
        place = urlsplit(request.prepare().url)
        connection = HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE_SECONDS)
        connection.request(
            str(request.method),
            f"{place.path}?{place.query}" if place.query else place.path,
            request.data if self.sent is None else self.sent,
            {**request.headers, **self.added},
        )
        answer = connection.getresponse()
        try:
            return answer.status, {**answer.headers}, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def others() -> frozenset[int]:
    """Return the ports of what other tests of this process have started and keep."""
    return frozenset(listeners())


@pytest.fixture(scope="module")
def environment(
    others: frozenset[int],  # noqa: ARG001 - looks before it starts
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RehearsalEnvironment]:
    """Run everything that a rehearsal runs, with a function that has been called."""
    with rehearsal_environment(
        account=ACCOUNT,
        region=REGION,
        kubernetes_version="1.34",
        eks_cluster_name=CLUSTER,
        log_file=tmp_path_factory.mktemp("rehearsal") / "local-aws.log",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def called(environment: RehearsalEnvironment) -> dict[str, Any]:
    """Return what a function says of itself."""
    function = {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "FunctionName": "f",
            "Runtime": "python3.13",
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"ZipFile": FUNCTION},
        },
    }
    deploy(
        environment.aws,
        {"Role": role("lambda.amazonaws.com", RoleName="r"), "Function": function},
        {},
    )
    answer = environment.clients("lambda").invoke(FunctionName="f")["Payload"].read()
    said: dict[str, Any] = json.loads(answer)
    return said


def root(environment: RehearsalEnvironment) -> Credentials:
    return Credentials(ACCOUNT, environment.aws.environment()["AWS_SECRET_ACCESS_KEY"])


@pytest.fixture(scope="module")
def own(environment: RehearsalEnvironment) -> Credentials:
    """The key of who has started the rehearsal."""
    return root(environment)


def users(environment: RehearsalEnvironment) -> list[str]:
    found = environment.clients("iam").list_users()["Users"]
    return [user["UserName"] for user in found]


def former_secret() -> str:
    """Return the secret of a run before."""
    command = [sys.executable, "-c", FORMER]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def guessed() -> Credentials:
    """Return the key that MiniStack derives for the function of the fixture."""
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:f:arn:aws:iam::{ACCOUNT}:role/r"
    digest = hashlib.sha256(arn.encode()).hexdigest()
    secret, token = (hashlib.sha256(f"{each}:{digest}".encode()) for each in ("secret", "token"))
    return Credentials(f"ASIA{digest[:16].upper()}", secret.hexdigest(), token.hexdigest())


ZERO = "AWS4-HMAC-SHA256 Credential=111122223333/20261128/us-east-1/iam/aws4_request, "
ZERO += f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
ZERO_QUERY = "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date={}&X-Amz-SignedHeaders=host"
ZERO_QUERY += "&X-Amz-Credential=111122223333%2F20261128%2Fus-east-1%2F{}%2Faws4_request"
ZERO_QUERY += f"&X-Amz-Expires=604800&X-Amz-Signature={'0' * 64}"
STRANGERS: dict[str, Asked] = {
    "nobody": Asked(),
    "the account's number": Asked(key=Credentials(ACCOUNT, "test")),
    "the account's number, presigned": Asked(key=Credentials(ACCOUNT, "test"), in_query=True),
    "another account's number": Asked(key=Credentials("000000000000", "test")),
    "MiniStack's own key": Asked(key=Credentials("test", "test")),
    "an unknown key": Asked(key=Credentials("AKIAIOSFODNN7EXAMPLE", "test")),
    "a function's key, guessed": Asked(key=guessed()),
    "a signature of zeros": Asked(headers={"Authorization": ZERO}),
    "one in the query": Asked(path=ZERO_QUERY.format("20261128T000000Z", "iam")),
    "one for S3 in the query": Asked(path=ZERO_QUERY.format("20991128T000000Z", "s3")),
    "signature version 2": Asked(headers={"Authorization": f"AWS {ACCOUNT}:AAAA"}),
    "a page's preflight": Asked(
        method="OPTIONS",
        headers={
            "Origin": "https://evil.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,x-amz-date",
        },
    ),
    "a preflight without an origin": Asked(method="OPTIONS"),
    "a page's form": Asked(headers={"Origin": "null", "Content-Type": "text/plain"}),
    "a web socket": Asked(
        method="GET",
        body=b"",
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(b"0" * 16).decode(),
        },
    ),
    **{
        f"{method} {path}": Asked(method=method, path=path, body=b"{}")
        for method, path in (
            ("POST", "/_ministack/reset"),
            ("POST", "/_ministack/config"),
            ("POST", "/_ministack/eks-auth/x"),
            ("GET", "/_ministack/lambda-code/f"),
            ("GET", "/_ministack/ready"),
            ("GET", "/latest/meta-data/iam/security-credentials/"),
            ("PUT", "/latest/api/token"),
            ("GET", "/v2/"),
            ("PUT", "/bucket/key"),
            ("GET", "/_aws/execute-api/a/b"),
            ("POST", "/2015-03-31/functions/f/invocations"),
            ("POST", "/_ministack/health"),
        )
    },
}


@pytest.mark.parametrize("asked", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.usefixtures("called")
def test_a_stranger_is_refused(environment: RehearsalEnvironment, asked: Asked) -> None:
    status, headers, _ = asked.answer(environment.aws.endpoint)

    assert status in {400, 403}
    assert [name for name in headers if name.lower().startswith("access-control-")] == []
    assert users(environment) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"added": {"Origin": "https://evil.example"}},
        {"headers": {"Origin": "https://evil.example"}},
        {"headers": {"Host": "evil.example"}},
        {"headers": {"Host": "127.0.0.1.evil.example:80"}},
        {"headers": {"Host": "evil.s3.amazonaws.com"}},
        {"sent": b"Action=CreateUser&UserName=mallori&Version=2010-05-08"},
        {"added": {"X-Amz-Date": "20261128T000000Z"}},
    ],
    ids=str,
)
def test_a_key_that_is_right_is_not_enough(
    environment: RehearsalEnvironment, own: Credentials, changes: dict[str, Any]
) -> None:
    # The query says itself when it was signed, and has no body.
    ways = (False, True) if "Date" not in str(changes) and "sent" not in changes else (False,)
    for in_query in ways:
        asked = Asked(key=own, in_query=in_query, **changes)
        assert asked.answer(environment.aws.endpoint)[0] in {400, 403}
    assert users(environment) == []


_GIB, _MIB = 1024**3, 1024**2
_UNKNOWN = Credentials("AKIAIOSFODNN7EXAMPLE", "test")
_WRONG = Credentials(ACCOUNT, "test")


@pytest.mark.parametrize(
    ("key", "path", "headers", "expected"),
    [
        (None, "/", {}, {403}),
        (_UNKNOWN, "/", {}, {403}),
        (_WRONG, "/bucket/key", {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}, {403}),
        (_WRONG, "/bucket/key", {"x-amz-content-sha256": "0" * 64}, {403}),
        # Only the body would show that the signature is wrong.
        (_WRONG, "/", {}, {413}),
        (_WRONG, "/", {"x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}, {413}),
        (None, "/_ministack/cfn-response/x", {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}, {413}),
    ],
)
def test_no_long_body_of_a_stranger_is_read(
    environment: RehearsalEnvironment,
    key: Credentials | None,
    path: str,
    headers: dict[str, str],
    expected: set[int],
) -> None:
    url = environment.aws.endpoint
    request = AWSRequest("PUT", f"{url}{path}", headers, b"")
    if key is not None:
        SigV4Auth(key, "s3", "us-east-1").add_auth(request)
    place = urlsplit(url)
    for length in (str(_GIB), None):
        connection = HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE_SECONDS)
        connection.putrequest("PUT", path)
        sized = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": length}
        for name, value in {**request.headers, **sized}.items():
            connection.putheader(name, value)
        connection.endheaders()
        # With a length, it is refused before any of the body is there.
        if length is None and expected == {413}:
            with suppress(ConnectionError):
                for _ in range(20):
                    connection.send(b"100000\r\n" + bytes(_MIB) + b"\r\n")
        assert connection.getresponse().status in expected
        connection.close()


def test_a_long_object_of_who_has_the_key_is_kept(environment: RehearsalEnvironment) -> None:
    s3 = environment.clients("s3")
    s3.create_bucket(Bucket="c-c", CreateBucketConfiguration={"LocationConstraint": REGION})

    s3.put_object(Bucket="c-c", Key="long", Body=bytes(20 * _MIB))

    assert s3.head_object(Bucket="c-c", Key="long")["ContentLength"] == 20 * _MIB


def test_the_secret_of_another_run_is_none(environment: RehearsalEnvironment) -> None:
    asked = Asked(key=Credentials(ACCOUNT, former_secret()))

    assert asked.answer(environment.aws.endpoint)[0] == 403


def test_who_has_the_key_is_served(
    environment: RehearsalEnvironment, own: Credentials, called: dict[str, Any]
) -> None:
    read = b"Action=ListUsers&Version=2010-05-08"
    for in_query in (False, True):
        asked = Asked(key=own, in_query=in_query, body=read)
        status, headers, body = asked.answer(environment.aws.endpoint)
        assert (status, b"ListUsersResult" in body) == (200, True), body
        assert [name for name in headers if name.lower().startswith("access-control-")] == []
    assert called["arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/r/f"
    assert own.secret_key not in called["environment"].values()


def test_a_presigned_url_of_s3_needs_no_more(environment: RehearsalEnvironment) -> None:
    session = session_of(environment.aws.environment(), region=REGION)
    s3 = session.client(
        "s3",
        endpoint_url=environment.aws.endpoint,
        config=ClientConfig(signature_version="s3v4"),
    )
    s3.create_bucket(Bucket="b-b", CreateBucketConfiguration={"LocationConstraint": REGION})
    target = {"Bucket": "b-b", "Key": "a b/c+d"}

    def status(method: str, url: str) -> int:
        asked = Asked(method=method, path=url.removeprefix(environment.aws.endpoint), body=b"x")
        return asked.answer(environment.aws.endpoint)[0]

    get = s3.generate_presigned_url("get_object", Params=target)
    assert status("PUT", s3.generate_presigned_url("put_object", Params=target)) == 200
    assert s3.get_object(**target)["Body"].read() == b"x"
    assert status("GET", get) == 200
    assert status("GET", get.replace("c%2Bd", "e")) == 403
    assert status("PUT", get) == 403
    late = s3.generate_presigned_url("get_object", Params=target, ExpiresIn=-1)
    assert status("GET", late) == 400


def kubernetes_status(environment: RehearsalEnvironment, path: str, **headers: str) -> int:
    api = urlsplit(environment.kubernetes.url)
    context = ssl.create_default_context(cadata=environment.kubernetes.ca_pem)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    connection = HTTPSConnection(
        str(api.hostname), api.port, context=context, timeout=PATIENCE_SECONDS
    )
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_kubernetes_api_verifies_tokens(environment: RehearsalEnvironment) -> None:
    forger = boto3.Session(ACCOUNT, "test", region_name=REGION)
    tokens = {
        "": 401,
        "x": 401,
        token_signer(forger).token(CLUSTER): 401,
        environment.kubernetes.admin_token: 200,
    }
    status = partial(kubernetes_status, environment, "/api/v1/secrets")
    for token, expected in tokens.items():
        assert status(Authorization=f"Bearer {token}") == expected
    admin = {"Authorization": f"Bearer {environment.kubernetes.admin_token}"}
    assert status() == 401
    assert status(**admin, Origin="https://evil.example") == 403
    assert status(**admin, Host="evil.example") == 403


def test_the_hyperpod_api_is_for_who_knows_its_url(environment: RehearsalEnvironment) -> None:
    url = urlsplit(environment.hyperpod_url)
    place, target = f"http://{url.netloc}", {"X-Amz-Target": "SageMaker.ListClusters"}
    asked = {
        ("POST", "/"): 404,
        ("PUT", "/faults"): 404,
        ("GET", "/quotas"): 404,
        ("POST", f"{url.path}x"): 404,
        ("POST", url.path): 200,
    }
    for (method, path), status in asked.items():
        place = f"http://{url.netloc}"
        assert (
            Asked(method=method, path=path, headers=target, body=b"{}").answer(place)[0] == status
        )
    page = {**target, "Origin": "https://evil.example"}
    assert Asked(path=url.path, headers=page, body=b"{}").answer(f"http://{url.netloc}")[0] == 403


def test_the_address_of_a_pipeline_lets_no_one_in(
    environment: RehearsalEnvironment, own: Credentials
) -> None:
    read = b"Action=ListUsers&Version=2010-05-08"
    with RegionRouter({REGION: environment.aws.endpoint}) as router:
        for name in ("nobody", "the account's number", "a page's preflight"):
            assert STRANGERS[name].answer(router.endpoint)[0] in {400, 403}
        assert Asked(key=own, body=read).answer(router.endpoint)[0] == 200


def descendants(pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, left = set(), [pid]
    while left:
        found.add(one := left.pop())
        left += children.get(one, [])
    return found


def sockets_of(pids: set[int]) -> set[str]:
    """Return the inodes of the sockets of processes."""
    found = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                target = str(descriptor.readlink())
            except OSError:  # it is closed
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
    return found


def listeners() -> dict[int, str]:
    """Return the address of each port on which this process or one that it started listens."""
    sockets, found = sockets_of(descendants(os.getpid())), {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text("ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                address, port = fields[1].split(":")
                words = [address[start : start + 8] for start in range(0, len(address), 8)]
                packed = b"".join(bytes.fromhex(word)[::-1] for word in words)
                found[int(port, 16)] = str(ip_address(packed))
    return found


@pytest.mark.usefixtures("called")
def test_nothing_listens_beyond_the_loopback_interface(
    environment: RehearsalEnvironment, others: frozenset[int]
) -> None:
    with RegionRouter({REGION: environment.aws.endpoint}) as router:
        found = {port: address for port, address in listeners().items() if port not in others}
        urls = (
            environment.aws.endpoint,
            environment.hyperpod_url,
            environment.kubernetes.url,
            router.endpoint,
        )

    # No other listens either: the tests above are of these.
    assert found.keys() == {urlsplit(url).port for url in urls}
    assert {*found.values()} == {"127.0.0.1"}


# It needs PyTorch.
@pytest.mark.whole
@pytest.mark.slow(seconds=6)
def test_the_stores_of_a_training_job_neither(tmp_path: Path) -> None:
    # Of what a training job's processes get.
    environment = image_environment()
    with subprocess.Popen(
        [shutil.which("python", path=environment["PATH"]) or "", "-c", STORE],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port, value = process.stdout.readline().split()
        found = listeners()[int(port)]
        process.communicate("\n")

    assert (found, value) == ("127.0.0.1", "value")


def test_these_are_all_that_could_listen() -> None:
    files = [
        path
        for folder in ("emulator/hyperpod_emulator", "rehearsal/hyperpod_rehearsal")
        for path in (REPOSITORY / folder).rglob("*.py")
    ]
    found = {
        (name, str(path.relative_to(REPOSITORY)))
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and (name := ast.unparse(node.func).rpartition(".")[2]) in LISTENERS
    }
    # `Store.listen` tells of changes, and has no port.
    assert found - {("listen", "emulator/hyperpod_emulator/kubernetes/server/handlers.py")} == {
        *LISTENS.items()
    }


@pytest.mark.usefixtures("called")
def test_no_command_line_and_no_open_file_has_a_secret(environment: RehearsalEnvironment) -> None:
    secrets = [
        environment.aws.environment()["AWS_SECRET_ACCESS_KEY"],
        urlsplit(environment.hyperpod_url).path[1:],
        environment.kubernetes.admin_token,
        environment.kubernetes.addons_token,
    ]
    pids = descendants(os.getpid())
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids}
    written = {
        path: path.read_bytes()
        for folder in (environment.aws.directory, environment.messages_file.parent)
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_mode & 0o044
    }
    for secret in secrets:
        assert len(secret) > 40
        assert [pid for pid, line in lines.items() if secret.encode() in line] == []
        assert [path for path, content in written.items() if secret.encode() in content] == []
        assert secret not in repr(environment)
