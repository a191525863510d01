# shellcheck shell=bash
# Finding out this node's operating system.

# Print `<ID>-<VERSION_ID>`, as in amzn-2023 or ubuntu-22.04.
os_release() {
  local file=$ROOT/etc/os-release
  if [[ ! -r $file ]]; then
    fail "$file is missing: cannot determine the operating system" \
      "use an image that HyperPod supports for Amazon EKS"
  fi
  # A subshell: the file sets a dozen variables.
  # shellcheck source=/dev/null
  (source "$file" && printf '%s-%s\n' "${ID:-unknown}" "${VERSION_ID:-unknown}")
}
