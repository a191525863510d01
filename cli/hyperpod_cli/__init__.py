"""What an operator of a deployment uses: `hyperpod-ops`."""

import sys

from hyperpod_cdk.synthesis.assets import asset_directory

# An asset of the library that no installation puts on the path; it has the causes and tags.
_PROVISIONER = str(asset_directory("lambda"))
if _PROVISIONER not in sys.path:
    sys.path.append(_PROVISIONER)
