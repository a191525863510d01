"""What looks like key material, a password or a token in a text, by its form.

Only what has one of these forms is seen: what is encoded, put together from parts, or named as
nothing secret is, stays.
"""

import re
from collections.abc import Iterator, Mapping

from hyperpod_cdk.checks.secret_values import is_secret_name

# The name of a value, and the value: quoted, the default of a variable of the shell, or one word.
_IDENTIFIER = r"(?P<name>[A-Za-z_][\w.-]*)"
_NAME = rf"(?<![\w${{]){_IDENTIFIER}"
_QUOTED = r"""[rbfuRBFU]{0,2}(?P<quote>["'])(?P<quoted>(?:(?!(?P=quote))[^\n\\]|\\.)+)(?P=quote)"""
_DEFAULT = r"""["']?\$\{\w+:?[-=](?P<default>[^}$\s"']+)\}"""
_WORD = r"""(?P<word>[^\s"'`$#<>(){}\[\],;&|]+)(?=[ \t]*(?:$|[\s,;&|})#]))"""
# Of YAML: words of a sentence follow a colon too.
_WHOLE = r"""(?P<word>[^\s"'`$#<>(){}\[\],;&|]+)(?=[ \t]*(?:$|[,}]|[ \t]#))"""
_BLOCK = r"(?P<block>[|>][-+]?)(?=[ \t]*$)"
_LITERAL = rf"{_QUOTED}|{_DEFAULT}|{_BLOCK}"
_VALUE = rf"(?:{_LITERAL}|{_WHOLE})"
_PAIRS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # NAME=value, export NAME=value, name: value, "name": "value", x["name"] = "value"
        rf"""{_NAME}["']?\]?[ \t]*(?::=|=>|=(?!=))[ \t]*(?:{_LITERAL}|{_WORD})""",
        rf"""{_NAME}["']?\]?[ \t]*:(?!=)[ \t]*{_VALUE}""",
        # name: str = "value"
        rf"{_NAME}:[ \t]*[A-Za-z_][^=\n]*=[ \t]*{_QUOTED}",
        # --name value
        rf"(?<!\S)--{_IDENTIFIER}[ \t]+(?:{_LITERAL}|{_WORD})",
        # {name: NAME, value: value}, as Kubernetes has variables
        r"""(?<![\w])["']?name["']?[ \t]*:[ \t]*["']?(?P<name>[\w.-]+)["']?[ \t]*,?\s*"""
        rf"""["']?value["']?[ \t]*:[ \t]*{_VALUE}""",
        # getenv("NAME", "value")
        rf"""(?:env|get|default)\(\s*["']{_NAME}["']\s*,\s*{_VALUE}""",
        # <name>value</name>
        r"<(?P<name>[A-Za-z_][\w.-]*)>(?P<word>[^<\s$]+)</",
    )
)
# In these languages a word is a name, and not a value.
_CODE = re.compile(r"\.(?:c|cc|cpp|go|h|java|js|kt|mjs|py|pyi|rb|rs|scala|ts|tf)$|^#!.*python")
_NO_SECRET = re.compile(
    r"(?:[\"']?$|[$%<*`~]|\{\{|\(|arn:|/[\w.-]+(?:/[\w.*-]+)*/?$|@(?!\w+$)"
    r"|(?:bool|boolean|bytes|false|int|no|nil|none|null|number|object|optional|required|str|string"
    r"|true|undefined|x+|yes|\.+|-|hidden|\\)$)",
    re.IGNORECASE,
)
# What a program puts in: {{ .Values.token }}, f"Bearer {token}".
_TEMPLATE = re.compile(r"\{\{|\{[A-Za-z_][^{}]*\}|%[sr(]")
# Words of a language model, and how many.
_OF_A_MODEL = re.compile(
    r"(?:^|[-_.])(?:bos|eos|cls|sep|pad|unk|mask|stop|special|image|vocab)_?tokens?$|tokens$",
    re.IGNORECASE,
)
_SHORT = 16
_CALLED_SECRET = re.compile(r"(?:^|\.)secrets?$")
_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*$")
_NUMBER = re.compile(r"-?[\d_.,eE+]+$")

_FORMS: Mapping[str, re.Pattern[str]] = {
    form: re.compile(pattern, re.MULTILINE)
    for form, pattern in {
        # LS0t...: the same in Base64.
        "a private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|LS0tLS1CRUdJTi|PuTTY-User-Key-File-"
        r"|AGE-SECRET-KEY-1",
        "a password of .netrc": r"(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+[^\s$]",
        "a login": r"(?i)\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|registry)\b"
        r"[^\n]*\blogin\b[^\n]*\s(?:-p|--password)[ =]?[\"']?[^\s\"'$-]"
        r"|\bsshpass\s+-p\s*[\"']?[^\s\"'$]|\bmysql\w*\b[^\n]*\s-p[^\s\"'$]"
        r"|\bcurl\b[^\n]*\s(?:-u|--user)[ =]?[\"']?[^\s\"'$:]+:[^\s\"'$]"
        r"|\b(?:echo|printf)\b[^\n$|]*:[^\s$|][^\n$|]*\|[^\n|]*\bchpasswd\b"
        r"|\bchpasswd\b[^\n]*<<<[ ]*[\"']?[\w-]+:[^\s$]",
        "an authorization": r"(?i)\bauthorization[\"']?\s*[:=,]\s*[\"']?"
        r"(?:basic|bearer|token|digest|apikey)\s+[A-Za-z0-9._~+/=-]{4,}"
        r"|\bbearer\s+(?=[^\s]*\d)[A-Za-z0-9._~+/=-]{12,}",
        "a login of Docker": r"""["'](?:auth|identitytoken)["']\s*:\s*["'][\w+/=-]{8,}["']""",
        "an AWS access key": r"\b(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}\b",
        "a token": r"\b(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{16,}"
        r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|gl[a-z]{2,6}-[\w-]{16,}|sk-[\w-]{16,}"
        r"|[rs]k_(?:live|test)_\w{10,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|dckr_[a-z]+_[\w-]{16,}"
        r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|hv[bs]\.[\w-]{20,}|nvapi-[\w-]{20,}|dop_v1_\w{20,}"
        r"|SG\.[\w-]{16,}\.[\w-]{16,}|r8_\w{20,}|wandb_v1_\w{16,}|lsv2_\w{16,}"
        r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{5,})",
        "a password in a URL": r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\"'${<]*:[^\s/@\"'${<]+@[\w\[]",
        "a URL that is a secret": r"hooks\.slack\.com/(?:services|workflows)/\w+/\w"
        r"|discord(?:app)?\.com/api/webhooks/\d|webhook\.office\.com/webhookb2/\w"
        r"|[?&](?:X-Amz-Signature|sig|Signature)=[\w%]{16,}|\bAccountKey=[\w+/]{16,}",
    }.items()
}
_SECRET_KIND = re.compile(r"""^\s*["']?kind["']?\s*:\s*["']?Secret["']?\s*,?\s*$""", re.MULTILINE)
_SECRET_DATA = re.compile(
    r"""^(?P<margin>[ \t]*)["']?(?:stringData|data)["']?:[ \t]*\{?[ \t]*\n"""
    r"""(?:(?P=margin)[ \t]+[^\n]*\n)*?(?P=margin)[ \t]+["']?[\w.-]+["']?:[ \t]*["']?[^\s"'{$]""",
    re.MULTILINE,
)
_DOCUMENT = re.compile(r"^---", re.MULTILINE)


def secret_forms(text: str, *, name: str = "") -> Iterator[str]:
    """Yield what looks like a secret in a text, once each: its form, or the name of the value.

    `name` is the file's: in a file of Python, and other programs, only a quoted value is one.
    """
    yield from (form for form, pattern in _FORMS.items() if pattern.search(text))
    if any(
        _SECRET_KIND.search(document) and _SECRET_DATA.search(f"{document}\n")
        for document in _DOCUMENT.split(text)
    ):
        yield "a Secret of Kubernetes"
    yield from dict.fromkeys(_named(text, is_code=bool(_CODE.search(name) or _CODE.match(text))))


def _named(text: str, *, is_code: bool) -> Iterator[str]:
    for pattern in _PAIRS:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            word = None if is_code else parts.get("word")
            value = parts.get("quoted") or parts.get("default") or parts.get("block") or word
            if value and _is_secret(match["name"], value):
                yield match["name"]


def _is_secret(name: str, value: str) -> bool:
    if not is_secret_name(name) or _NO_SECRET.match(value) or _TEMPLATE.search(value):
        return False
    if _OF_A_MODEL.search(name):
        return _NUMBER.match(value) is None and len(value) >= _SHORT
    # What is named is a Secret of Kubernetes, or a variable.
    of_secret = _CALLED_SECRET.search(name) and _WORDS.match(value)
    return not (of_secret or (value.isupper() and is_secret_name(value)))
