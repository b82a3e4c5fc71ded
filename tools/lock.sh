#!/bin/sh
# Resolves the dependencies of pyproject.toml into requirements/*.txt: hashed, for every platform, without an index.
set -eu

bin=${BIN:-.venv/bin}

compile() { # name of the file, then what goes into it
  name=$1
  shift
  "$bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --custom-compile-command "make lock" --output-file "requirements/$name.txt" "$@"
}

# What the product needs is resolved first; everything else has to live with those versions.
compile base pyproject.toml ${1+"$@"}
for name in build docs bench; do
  compile "$name" --constraint requirements/base.txt --group "$name" ${1+"$@"}
done
compile dev pyproject.toml --constraint requirements/base.txt --constraint requirements/build.txt --group check ${1+"$@"}
