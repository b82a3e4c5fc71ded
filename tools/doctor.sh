#!/bin/sh
# Says in one sentence each what this machine lacks to build Sluicegate; installs Debian's parts if it can.
set -eu

here=$(dirname "$0")
python=${PYTHON:-python3}

stop() {
  echo "$*" >&2
  exit 1
}

command -v "$python" >/dev/null 2>&1 ||
  stop "Python is missing: install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  stop "Python 3.11 or newer is needed, $("$python" --version) was found: install one and run make PYTHON=python3.11."
command -v cargo >/dev/null 2>&1 ||
  stop "Rust is missing: install it with rustup; rust-toolchain.toml names the version."

needed=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
found=$(cargo --version 2>&1) ||
  stop "cargo does not run here ($found): install Rust $needed with rustup."
case $found in
  "cargo $needed"*) ;;
  *) stop "Rust $needed is needed, $found was found: install Rust with rustup, which reads rust-toolchain.toml." ;;
esac

"$here/need.sh" cc=gcc
# Debian ships the interpreter without what a virtual environment needs.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  "$here/need.sh" "$package=$package"
fi
