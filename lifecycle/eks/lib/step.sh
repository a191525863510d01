# shellcheck shell=bash
# Every step starts with this: strict mode, settings, libraries, and self-explanatory failures.
set -Eeuo pipefail

LIFECYCLE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly LIFECYCLE
# shellcheck source-path=SCRIPTDIR/.. source=settings.sh
source "$LIFECYCLE/settings.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/containerd.sh
source "$LIFECYCLE/lib/containerd.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/data_volume.sh
source "$LIFECYCLE/lib/data_volume.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/os_release.sh
source "$LIFECYCLE/lib/os_release.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/relocate.sh
source "$LIFECYCLE/lib/relocate.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/services.sh
source "$LIFECYCLE/lib/services.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/toml_root.sh
source "$LIFECYCLE/lib/toml_root.sh"

trap 'echo "${SEVERITY:-ERROR} command failed: $BASH_COMMAND (${BASH_SOURCE[0]##*/} line $LINENO)" >&2' ERR

say() {
  printf '%s\n' "$*"
}
