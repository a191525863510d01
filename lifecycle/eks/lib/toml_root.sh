# shellcheck shell=bash
# The top-level key `root` of a containerd configuration file; tables have keys of that name too.

# Print its value, or nothing.
toml_root() {
  sed -nE '/^[[:space:]]*\[/q; s/^[[:space:]]*root[[:space:]]*=[[:space:]]*["'\'']([^"'\'']*)["'\''].*/\1/p' "$1"
}

# Set it in file $1 to $2. Replaces the line, commented out or not; adds one when there is none.
set_toml_root() {
  local file=$1 value=$2 unfinished=$1.new
  awk -v line="root = \"$value\"" '
    !table && /^[[:space:]]*\[/ { table = 1; if (!done) { print line; done = 1 } }
    !table && /^[#[:space:]]*root[[:space:]]*=/ { if (!done) { print line; done = 1 } next }
    { print }
    END { if (!done) print line }
  ' "$file" >"$unfinished"
  chmod --reference="$file" "$unfinished"
  mv -- "$unfinished" "$file"
}
