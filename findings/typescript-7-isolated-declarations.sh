#!/usr/bin/env bash
# TypeScript 7.0.2 (npm typescript), `tsc --isolatedDeclarations --declaration --noEmit`, beside 6.0.3, Node 20 or newer.
#
# An exported function without a return type, which returns its parameter or a constant of its module:
#
#   export function same(text: string) { return text; }
#
# 6.0.3 reports TS9007 at the name of the function: "Function must have an explicit return type annotation". 7.0.2 reports
# TS9039 at the returned expression: "Type containing private name 'text' can't be used". No type contains a private name
# here: `text` is a parameter, and its type is `string`. As an arrow function the same text gets TS9007 from both.
#
# Expected: TS9007 at the function in both forms, since the return type is what is missing.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work/tools" --no-audit --no-fund --no-save --silent \
  seven@npm:typescript@7.0.2 six@npm:typescript@6.0.3

cd "$work"
cat > exported.ts <<'TS'
export function same(text: string) { return text; }
export const sameByArrow = (text: string) => text;
const constant: string = 'constant';
export function ofModule() { return constant; }
TS

# Line, column and code of each error: `errors seven`.
errors() {
  timeout 90 node "$work/tools/node_modules/$1/bin/tsc" --isolatedDeclarations --declaration --noEmit --pretty false \
    exported.ts > output 2>&1 || true
  sed -nE 's/^exported\.ts\(([0-9]+),([0-9]+)\): error (TS[0-9]+):.*/\1:\2 \3/p' output | tr '\n' ';'
}
six="$(errors six)"
echo "6.0.3: $six"
[ "$six" = '1:17 TS9007;2:28 TS9007;4:17 TS9007;' ] || { echo 'changed: 6.0.3 reports something else'; exit 1; }
seven="$(errors seven)"
echo "7.0.2: $seven"
grep "private name 'text'" output || { echo 'changed: no private name is reported'; exit 1; }
[ "$seven" = '1:45 TS9039;2:28 TS9007;4:37 TS9039;' ] || { echo 'changed: 7.0.2 reports something else'; exit 1; }
echo 'as described'
