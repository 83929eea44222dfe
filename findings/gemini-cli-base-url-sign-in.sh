#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm @google/gemini-cli), Node 20 or newer, without a terminal and without a settings file.
#
# GEMINI_API_KEY alone signs it in: `gemini -p …` goes on to call Google. With GOOGLE_GEMINI_BASE_URL beside it, the same
# command ends with "Invalid auth method selected." and sends nothing to that address: the variable chooses a method of
# signing in of its own, which the check of methods does not accept. The name of the method in the settings
# (security.auth.selectedType: "gemini-api-key") makes the same command call the address with the key.
#
# Expected: a variable that changes the address changes nothing about the key that is used.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
server=""
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

timeout 240 npm install --prefix "$work/cli" --no-audit --no-fund --no-save --silent @google/gemini-cli@0.61.0
cat > "$work/server.mjs" <<'JS'
import { createServer } from 'node:http';
import { appendFileSync, writeFileSync } from 'node:fs';
const [, , work] = process.argv;
const answer = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
};
const server = createServer((request, response) => {
  appendFileSync(`${work}/requests`, `${request.url} ${request.headers['x-goog-api-key']}\n`);
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(answer)}\n\n`);
});
server.listen(0, '127.0.0.1', () => writeFileSync(`${work}/port`, String(server.address().port)));
JS
touch "$work/requests"
node "$work/server.mjs" "$work" &
server=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done

mkdir -p "$work/home"
ask() {
  (cd "$work/home" && env -i PATH="$PATH" HOME="$work/home" GEMINI_API_KEY=key-of-a-test \
    GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$(cat "$work/port")" \
    timeout 90 "$work/cli/node_modules/.bin/gemini" -m gemini-2.5-pro --skip-trust -p 'Say: Done.' </dev/null 2>&1) || true
}

without="$(ask)"
echo "without settings: $(tail -1 <<<"$without")"
grep -q 'Invalid auth method selected' <<<"$without" || { echo 'changed: it is signed in without settings'; exit 1; }
[ ! -s "$work/requests" ] || { echo 'changed: it has called the address'; exit 1; }

mkdir -p "$work/home/.gemini"
echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' > "$work/home/.gemini/settings.json"
with="$(ask)"
echo "with settings: $(tail -1 <<<"$with")"
grep -q 'Done\.' <<<"$with" || { echo 'changed: the settings are not enough any more'; exit 1; }
grep -q 'key-of-a-test' "$work/requests" || { echo 'changed: the key is not sent'; exit 1; }
echo 'as described'
