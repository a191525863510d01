# shellcheck shell=bash
# Finding out this node's operating system.

# Print `<ID>-<VERSION_ID>`, as in amzn-2023 or ubuntu-22.04; `unknown` stands for what is missing.
os_release() {
  local file=$ROOT/etc/os-release
  if [[ ! -r $file ]]; then
    file=/dev/null
  fi
  # A subshell: the file sets a dozen variables.
  # shellcheck source=/dev/null
  (
    unset ID VERSION_ID
    source "$file"
    printf '%s-%s\n' "${ID:-unknown}" "${VERSION_ID:-unknown}"
  )
}
