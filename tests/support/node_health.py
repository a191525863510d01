"""The controller of the chart node-health, loaded as what it is: a file that Kubernetes mounts."""

import ssl
from pathlib import Path
from types import ModuleType

from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import ADMIN
from tests.support.configs import REPOSITORY
from tests.support.loaded import loaded

CHART = REPOSITORY / "charts" / "node-health"
SCRIPT = "#!/bin/sh\nexit 0\n"
GPU = "ml.p5.48xlarge"


def controller() -> ModuleType:
    """Return the module of the controller."""
    return loaded("controller", CHART / "files" / "controller.py")


def api_of(kubernetes: KubernetesApi, *, folder: Path) -> object:
    """Return the controller's client of an API."""
    token = folder / "token"
    token.write_text(f"{ADMIN}\n")
    context = ssl.create_default_context(cadata=kubernetes.ca_pem)
    return controller().Api(url=kubernetes.url, token_file=token, context=context)
