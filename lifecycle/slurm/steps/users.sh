# shellcheck shell=bash
# Users of users.csv: `name,uid,home,public key`, of which the last two may be empty. The deployment
# has checked it. Each has the same ID on every node, and a home on the shared file system.
# shellcheck source-path=SCRIPTDIR/../lib source=step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly USERS=$LIFECYCLE/users.csv

# A home made before the mount would be hidden by it.
wait_for_mount() {
  local directory=$1 deadline=$((SECONDS + MOUNT_WAIT_SECONDS))
  until mountpoint -q "$ROOT$directory"; do
    if ((SECONDS >= deadline)); then
      fail "no file system is mounted at $directory after $MOUNT_WAIT_SECONDS s" \
        "check that the nodes' security group lets the file system's ports in, then replace the node"
    fi
    sleep "$MOUNT_POLL_SECONDS"
  done
}

# Say whether $1 has $2; refuse an ID of someone else's, whose files of the shared file system differ.
has_id() {
  local database=$1 name=$2 id=$3 found
  found=$(getent "$database" "$name" | cut -d : -f 3) || true
  if [[ -n $found && $found != "$id" ]]; then
    fail "$database has $name with the ID $found, not $id" \
      "give $name the ID $found in the users' file, or another name"
  fi
  found=$(getent "$database" "$id" | cut -d : -f 1) || true
  if [[ -n $found && $found != "$name" ]]; then
    fail "$database has the ID $id of $name for $found" \
      "give $name another ID in the users' file"
  fi
  [[ -n $found ]]
}

# Whole or not at all: nodes that start together make the same homes.
make_home() {
  local id=$1 home=$ROOT$2 new
  mkdir -p "$(dirname "$home")"
  new=$(mktemp -d "$home.XXXXXX")
  cp -a "$ROOT/etc/skel/." "$new"
  chmod 700 "$new"
  chown -R "$id:$id" "$new"
  # It fails if another node was faster.
  mv --no-target-directory "$new" "$home" 2>/dev/null || rm -r "$new"
}

add_user() {
  local name=$1 id=$2 home=$3 public_key=$4 group=yes user=yes owner
  has_id group "$name" "$id" || group=
  has_id passwd "$name" "$id" || user=
  [[ -e $ROOT$home ]] || make_home "$id" "$home"
  owner=$(stat --dereference --format %u "$ROOT$home")
  if [[ $owner != "$id" ]]; then
    fail "the home $home of $name belongs to the ID $owner" \
      "give $name that ID in the users' file, or another home"
  fi
  [[ -n $group ]] || groupadd --gid "$id" "$name"
  if [[ -z $user ]]; then
    useradd --uid "$id" --gid "$id" --home-dir "$home" --no-create-home --shell /bin/bash "$name"
    echo "added $name with the ID $id and the home $home"
  fi
  # As the user: what is in a home may be a link to a file of the system. What they have made of it,
  # or a full quota, must not keep a node of all users from the cluster.
  timeout --signal=KILL "$USER_SECONDS" \
    runuser -u "$name" -- bash -s -- "$ROOT$home" "$public_key" <"$LIFECYCLE/lib/ssh_key.sh" ||
    echo "WARNING $name has no new SSH keys: $home/.ssh could not be read and written as $name" \
      "within $USER_SECONDS s; mend it, then run this script again"
}

[[ -f $USERS ]] || exit 0
read -r -a shared <<<"$SHARED_DIRECTORIES"
for directory in "${shared[@]}"; do
  wait_for_mount "$directory"
done
if ((!${#shared[@]})); then
  echo "WARNING no file system is shared: each node has homes of its own, and nobody gets from" \
    "node to node without a password"
fi
while IFS=, read -r name id home public_key; do
  add_user "$name" "$id" "${home:-${shared[0]:-/home}/$name}" "$public_key" </dev/null
done <"$USERS"
