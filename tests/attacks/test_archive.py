"""An archive is sent to others: what looks like a secret in any file of it must not be in it.

The forms, and variations of them. What has none of these forms stays, as the help says.
"""

import base64
import gzip
import io
import stat
import tarfile
from pathlib import Path

import pytest

from hyperpod_cli.inspect.archive.archive import read_archive, written
from hyperpod_cli.inspect.archive.hiding import hidden, secrets_in_files
from hyperpod_cli.inspect.archive.secret_forms import secret_forms
from tests.support.archives import archive_with
from tests.support.configs import REPOSITORY
from tests.support.provisioner.fake_s3 import zipped

_LONG = "a1B2c3D4e5F6g7H8i9J0"
_MANIFEST = """apiVersion: v1
kind: Secret
metadata: {name: mine}
stringData:
  anything: hunter2
"""
# What somebody may write into a script, a chart or its values.
FORMS = {
    "PEM": "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "PKCS8": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE",
    "OpenSSH": "cat > ~/.ssh/id <<E\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\nE",
    "PEM in Base64": base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nMIIE").decode(),
    "netrc": "machine api.example login me password hunter2",
    "netrc over lines": "machine api.example\n  login me\n  password hunter2",
    "docker login": "docker login -u me -p hunter2 registry.example",
    "docker login, long": "docker login --username me --password=hunter2 registry.example",
    "helm registry login": "helm registry login r.example --username me --password hunter2",
    "config.json": '{"auths": {"r.example": {"auth": "bWU6aHVudGVyMg=="}}}',
    "Bearer": 'curl -H "Authorization: Bearer abcdef0123456789" https://api.example',
    "Basic": "Authorization: Basic bWU6aHVudGVyMg==",
    "header in Python": 'headers = {"Authorization": "token abcdef0123"}',
    "curl -u": "curl -fsS -u me:hunter2 https://api.example",
    "NAME=value": "API_TOKEN=hunter2",
    "indented": "if true; then\n  API_TOKEN='hunter2'\nfi",
    "readonly": "readonly TOKEN=hunter2",
    "export": 'export HF_TOKEN="hunter2"',
    "declare": "declare -rx DB_PASSWORD=hunter2",
    "after a semicolon": "set -e; PASSWORD=hunter2 ./run",
    "default": "token=${TOKEN:-hunter2}",
    "commented": "# SECRET_KEY is not one, this is: PASSWORD=hunter2",
    "env of a command": "env WANDB_API_KEY=hunter2 python train.py",
    "option": "login --password hunter2",
    "option with =": "login --api-key=hunter2",
    "AWS credentials": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS access key": "aws configure set x AKIAIOSFODNN7EXAMPLE",
    "YAML": "grafana:\n  adminPassword: hunter2",
    "YAML, quoted": 'password: "hunter 2"',
    "YAML, block": "password: |\n  hunter2",
    "YAML, flow": "{user: me, password: hunter2}",
    "JSON": '{"client_secret": "hunter2"}',
    "Kubernetes variable": "- name: API_TOKEN\n  value: hunter2",
    "variable in JSON": '{"name": "API_TOKEN", "value": "hunter2"}',
    "Python": 'TOKEN = "hunter2"',
    "Python with a type": 'TOKEN: str = "hunter2"',
    "Python argument": 'connect(user="me", password="hunter2")',
    "environ": 'os.environ["HF_TOKEN"] = "hunter2"',
    "getenv": 'os.getenv("DB_PASSWORD", "hunter2")',
    "XML": "<password>hunter2</password>",
    "Slurm": "StoragePass=hunter2",
    "MySQL": "mysql -u root -phunter2 -e 'select 1'",
    "chpasswd": "echo 'root:hunter2' | chpasswd",
    "GitHub": f"git clone x {'ghp_' + _LONG * 2}",
    "GitHub, fine-grained": "github_pat_" + _LONG,
    "Hugging Face": "hf_" + _LONG,
    "Slack": "xoxb-123456789012-abcdef",
    "GitLab": "glpat-" + _LONG,
    "OpenAI": "sk-proj-" + _LONG,
    "NGC": "nvapi-" + _LONG,
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    "URL": "git clone https://me:hunter2@git.example/x",
    "URL of a database": "DATABASE_URL=postgres://me:hunter2@db/x",
    "package index": "--index-url https://__token__:hunter2@pypi.example/simple",
    "Slack webhook": "https://hooks.slack.com/services/T00000000/B00000000/abcdef",
    "presigned URL": f"https://b.s3.amazonaws.com/k?X-Amz-Signature={_LONG}",
    "Secret": _MANIFEST,
    "Secret among others": f"kind: ConfigMap\n---\n{_MANIFEST}---\nkind: Service\n",
    "Secret in Base64": "kind: Secret\ndata:\n  anything: aHVudGVyMg==\n",
}
# What is none, and what a script cannot do without.
GOOD = {
    "asked for": "TOKEN=$(curl -fsS -X PUT http://169.254.169.254/latest/api/token)",
    "given": 'TOKEN=$1\nPASSWORD="${2:?}"\nexport HF_TOKEN="$TOKEN"\ntoken=${TOKEN:-}',
    "compared": '[ "$TOKEN" = "" ] && echo "TOKEN: is not set"',
    "a path": "HF_TOKEN_PATH=/fsx/token\ntoken: /var/run/secrets/eks.amazonaws.com/token",
    "header": 'curl -H "X-aws-ec2-metadata-token: $TOKEN" -H "Authorization: Bearer $TOKEN" x',
    "login": "aws ecr get-login-password | docker login --username AWS --password-stdin r.example",
    "name of a Secret": "existingSecret: mine\nsecretName: mine\nsecret: hugging-face",
    "Secret of values": "kind: Secret\nstringData:\n  password: {{ .Values.password | quote }}\n",
    "reference": "valueFrom: {secretKeyRef: {name: mine, key: token}}",
    "switch": "automountServiceAccountToken: false\nHttpTokens: required",
    "model": 'max_tokens: 4096\npad_token: "[PAD]"\neos_token = "<|endoftext|>"',
    "Python": "#!/usr/bin/python3\ndef run(*, token: str, secret: str = None):\n  a.token = token",
    "prose": "# token: the one that the user gives\n# No password is asked.",
    "URL": "https://example.com:8443/a@b",
    "working directory": "PWD=/x\nbypass=1",
}


def packaged(files: dict[str, bytes]) -> bytes:
    """Return a packaged chart."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"mine/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue())


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_a_secret_is_seen_in_scripts_in_charts_and_in_both_within_a_zip(text: str) -> None:
    content = f"#!/bin/bash\necho first\n{text}\n".encode()
    chart = packaged({"values.yaml": content})
    for asset in (
        zipped({"on_create.sh": b"echo hello\n", "more/setup": content}),
        chart,
        zipped({"charts/mine.tgz": chart}),
        packaged({"charts/inner.tgz": chart}),
    ):
        assert [*secrets_in_files(asset)], text


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_an_ordinary_script_stays(text: str) -> None:
    asset = zipped({"on_create": f"{text}\n".encode()})
    assert [*secrets_in_files(asset)] == []


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "munge.key": bytes(range(256)) * 4,
        "etc/munge.key": b"a key of letters",
        "keys/unnamed": bytes(range(128, 256)),
        ".netrc": b"default login me",
        "store.p12": b"x",
        "wide.sh": "TOKEN=hunter2".encode("utf-16"),
        "not-whole.zip": zipped({"a": b"echo"})[:-4] + b"\xff" * 4,
        "not-whole.tgz": packaged({"a": b"echo"})[:-9],
    }.items(),
    # An archive has the time in which it was made.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_looked_at_and_files_of_keys_are_seen(name: str, content: bytes) -> None:
    assert [*secrets_in_files(zipped({name: content}))]


def test_the_projects_own_scripts_and_charts_stay() -> None:
    own = [
        path
        for folder in ("lifecycle", "charts", "examples", "images")
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert own
    texts = {str(path): path.read_text("utf-8", "strict") for path in own}
    seen = {name: [*secret_forms(text, name=name)] for name, text in texts.items()}
    assert {name: forms for name, forms in seen.items() if forms} == {}


@pytest.mark.parametrize(
    "values",
    [
        {"DATABASE_URL": "postgres://me:hunter2@db/x"},
        {"SLACK_WEBHOOK_URL": "https://hooks.example/hunter2"},
        {"GITHUB_PAT": "hunter2"},
        {"dockerconfigjson": "hunter2"},
        {"authorization": "hunter2"},
        {"headers": ["Authorization: Bearer hunter2"]},
        {"Values": '{"url": "postgres://me:hunter2@db/x"}'},
        {"Script": "docker login -u me -p hunter2 r.example"},
    ],
)
def test_a_secret_in_a_template_is_hidden_whatever_it_is_called(values: dict[str, object]) -> None:
    found, places = hidden(values)
    assert "hunter2" not in str(found)
    assert places


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "deployed.zip"
    path.touch(mode=0o666)
    path.chmod(0o666)
    assert [*written(archive_with(), path=path)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_archive(path).manifest.deployment
