# `make help`: the headings (##@) and the targets (##) of the Makefile.
BEGIN { FS = ":.*## " }
/^##@ / { printf "\n%s\n", substr($0, 5); next }
/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $1, $2 }
