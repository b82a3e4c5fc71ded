#!/bin/sh
# Runs every fuzz target for so many seconds: fuzz.sh SECONDS. Needs cargo-fuzz and a nightly toolchain.
set -eu

seconds=${1:-60}
cargo +nightly fuzz --version >/dev/null 2>&1 || {
  echo "cargo-fuzz is missing: rustup toolchain install nightly && cargo install cargo-fuzz" >&2
  exit 1
}
for target in $(cargo +nightly fuzz list); do
  echo "fuzzing $target for $seconds seconds"
  cargo +nightly fuzz run "$target" -- -max_total_time="$seconds"
done
