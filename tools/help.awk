# Lists the targets of a Makefile that carry a `## description`, under their `##@ group`.
BEGIN { FS = ":.*## " }
/^##@ / { printf "\n%s\n", substr($0, 5); next }
/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $1, $2 }
