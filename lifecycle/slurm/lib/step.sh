# shellcheck shell=bash
# Every step starts with this: strict mode, settings, and self-explanatory failures.
set -Eeuo pipefail

LIFECYCLE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly LIFECYCLE
# shellcheck source-path=SCRIPTDIR/.. source=settings.sh
source "$LIFECYCLE/settings.sh"

trap 'echo "ERROR command failed: $BASH_COMMAND (${BASH_SOURCE[0]##*/} line $LINENO)" >&2' ERR

# Make $1 a file with the text of standard input, all at once, unless it is one.
write_file() {
  local path=$ROOT$1 new
  mkdir -p "$(dirname "$path")"
  new=$(mktemp "$path.XXXXXX")
  cat >"$new"
  chmod 644 "$new"
  if cmp -s "$new" "$path"; then
    rm "$new"
  else
    mv "$new" "$path"
    echo "wrote $1"
  fi
}
