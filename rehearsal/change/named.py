"""What templates name and none of them makes: there is no configuration to read it from."""

import json
import re
from collections.abc import Iterable, Iterator

from hyperpod_cli.aws.cluster_template import Template
from rehearsal.existing_resources import ExistingResource
from rehearsal.existing_resources.roles import Principal
from rehearsal.existing_resources.storage import Bucket, KmsKey

_PRINCIPAL = re.compile(r"arn:[\w-]+:iam::\d{12}:(?:role|user)/[\w+=,.@/-]+(?![\w*$])")
_KEY = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+")
_LINKED = re.compile(r'"DataRepositoryPath": "s3://([a-z0-9.-]+)')


def named_in(templates: Iterable[Template]) -> Iterator[ExistingResource]:
    """Yield the roles, users, keys and linked buckets that templates name, each once."""
    text = "\n".join(json.dumps(each) for each in templates)
    yield from (Principal(arn=arn) for arn in dict.fromkeys(_PRINCIPAL.findall(text)))
    yield from (KmsKey(key=arn) for arn in dict.fromkeys(_KEY.findall(text)))
    yield from (Bucket(name=name) for name in dict.fromkeys(_LINKED.findall(text)))
