#!/bin/sh
# Makes sure that commands exist, each given as COMMAND=DEBIAN_PACKAGE; installs what is missing if it can.
set -eu

missing_commands=
missing_packages=
for pair in "$@"; do
  command -v "${pair%%=*}" >/dev/null 2>&1 && continue
  missing_commands="$missing_commands ${pair%%=*}"
  missing_packages="$missing_packages ${pair#*=}"
done
[ -n "$missing_commands" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root="sudo -n"
  sudo -n true 2>/dev/null || as_root=none
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$as_root" = none ]; then
  echo "missing:$missing_commands. On Debian or Ubuntu: sudo apt-get install$missing_packages" >&2
  exit 1
fi

echo "installing$missing_packages" >&2
$as_root apt-get update -qq
# shellcheck disable=SC2086  # the list is split on purpose
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing_packages >/dev/null </dev/null
