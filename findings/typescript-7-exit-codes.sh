#!/usr/bin/env bash
# TypeScript 7.0.2 (npm typescript), its compiler on the command line, beside 6.0.3, Node 20 or newer.
#
# One file with one error of types. Exit codes of `tsc`:
#
#                                       6.0.3   7.0.2
#   --noEmit bad.ts                         2       1
#   -b project.json (composite)             1       2
#   --outDir out bad.ts                     2       2
#   --noEmitOnError --outDir out bad.ts     1       1
#
# Both agree where something is written, or nothing because of --noEmitOnError. Where nothing was to be written anyway, and
# where a project is built, the codes have changed places: 1 says "nothing was written" and 2 says "something was".
#
# Expected: the codes of 6.0.3. A script that tells errors of types (2) from a refused configuration (1) by them reads the
# one for the other.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work/tools" --no-audit --no-fund --no-save --silent \
  seven@npm:typescript@7.0.2 six@npm:typescript@6.0.3

cd "$work"
echo 'export const count: string = 1;' > bad.ts
echo '{"compilerOptions":{"composite":true,"outDir":"built"},"files":["bad.ts"]}' > project.json

# The exit code of a compiler: `code six --noEmit bad.ts`.
code() {
  local compiler="$work/tools/node_modules/$1/bin/tsc" status=0
  shift
  rm -rf built out project.tsbuildinfo
  timeout 90 node "$compiler" "$@" > output 2>&1 || status=$?
  grep -q 'TS2322' output || { echo "changed: another error"; cat output; exit 1; } >&2
  echo "$status"
}
# `check 2 1 --noEmit bad.ts`: what 6.0.3 and 7.0.2 end with.
check() {
  local six=$1 seven=$2 seen
  shift 2
  seen="$(code six "$@") $(code seven "$@")"
  echo "$*: 6.0.3 and 7.0.2 exit with $seen"
  [ "$seen" = "$six $seven" ] || { echo "changed: expected $six $seven"; exit 1; }
}
check 2 1 --noEmit bad.ts
check 1 2 -b project.json
check 2 2 --outDir out bad.ts
check 1 1 --noEmitOnError --outDir out bad.ts
echo 'as described'
