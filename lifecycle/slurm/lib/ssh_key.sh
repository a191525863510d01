# shellcheck shell=bash
# Run as a user: let them in with the key $2, and from node to node with a key in their home, $1.
set -euo pipefail
umask 077
# Of a file, in KiB: what is there may change while it is read.
readonly MOST=64
ulimit -f "$MOST"

# End unless $1 is a file of that size, or nothing: to read a pipe or a device has no end.
check() {
  if [[ -L $1 || ( -e $1 && ! -f $1 ) || -n $(find "$1" -size "+${MOST}k" 2>/dev/null) ]]; then
    echo "$1 is no file of at most $MOST KiB, or a link" >&2
    exit 1
  fi
}

directory=$1/.ssh
mkdir -p "$directory"
check "$directory/id_ed25519"
check "$directory/authorized_keys"
new=$(mktemp -d "$directory/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
key=$directory/id_ed25519
if [[ ! -e $key ]]; then
  ssh-keygen -q -t ed25519 -N "" -C "$(id -un)" -f "$new/key"
  # It fails if another node was faster, whose key holds then.
  ln "$new/key" "$key" 2>/dev/null || [[ -e $key ]]
fi

# A key with a passphrase is the user's own, and lets nobody in by itself.
own=$(ssh-keygen -y -P "" -f "$key" </dev/null 2>/dev/null) || own=
touch "$new/authorized_keys"
if [[ -e $directory/authorized_keys ]]; then
  cat "$directory/authorized_keys" >"$new/authorized_keys"
fi
for line in "$own" "$2"; do
  if [[ -n $line ]] && ! grep -qxF -- "$line" "$new/authorized_keys"; then
    printf '%s\n' "$line" >>"$new/authorized_keys"
  fi
done
cmp -s "$new/authorized_keys" "$directory/authorized_keys" ||
  mv "$new/authorized_keys" "$directory/authorized_keys"
