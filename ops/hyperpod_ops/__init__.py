"""What an operator of a deployment uses: `hyperpod-ops`."""

import sys

from hyperpod_cdk.synthesis.assets import asset_directory

# An asset of the library, which no installation puts on the path: causes and tags are in it.
_PROVISIONER = str(asset_directory("lambda"))
if _PROVISIONER not in sys.path:
    sys.path.append(_PROVISIONER)
