#!/usr/bin/env bash
# OpenAI's client 6.49.0 (npm openai), Node 20 or newer, `chat.completions.stream` at a server of the OpenAI form.
#
# Two whole tool calls come in a chunk each, and end with the finish reason `tool_calls`. Where they have no `index`, the
# helper loses both without a word: `finalChatCompletion()` resolves, its finish reason is `tool_calls`, and the list of
# calls is empty. Where both have the index 0, they become one call: the id of the second, and the arguments of both, one
# after the other, which is no JSON. Where they are numbered 1 and 2, a TypeError says "Cannot read properties of undefined".
#
# Expected: an error of the client's own, as it has for a missing finish reason. For a server: number calls from 0.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work" --no-audit --no-fund --no-save --silent openai@6.49.0
cat > "$work/ask.mjs" <<'JS'
import { createServer } from 'node:http';
import OpenAI from 'openai';

const chunk = (delta, finish_reason = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (number, id, args) => ({
  role: 'assistant',
  tool_calls: [{ ...number, id, type: 'function', function: { name: 'weather', arguments: args } }],
});
const numbered = (first, second) => [
  chunk(call(first, 'call_1', '{"city":"Oslo"}')),
  chunk(call(second, 'call_2', '{"city":"Rome"}')),
  chunk({}, 'tool_calls'),
];
const streams = {
  'from-0': numbered({ index: 0 }, { index: 1 }),
  without: numbered({}, {}),
  same: numbered({ index: 0 }, { index: 0 }),
  'from-1': numbered({ index: 1 }, { index: 2 }),
};
const server = createServer((request, response) => {
  request.resume();
  const [, name] = request.url.split('/');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const payload of streams[name]) response.write(`data: ${JSON.stringify(payload)}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
for (const name of Object.keys(streams)) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${name}`;
  const { completions } = new OpenAI({ apiKey: 'key', baseURL, maxRetries: 0 }).chat;
  try {
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
    const [choice] = (await completions.stream(asked).finalChatCompletion()).choices;
    const calls = choice.message.tool_calls.map(({ id, function: { arguments: args } }) => `${id} ${args}`);
    console.log(`${name}: ${choice.finish_reason}, ${calls.length} calls: ${calls.join(', ')}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}
server.close();
server.closeAllConnections();
JS
timeout 60 node "$work/ask.mjs" | tee "$work/seen"
cat > "$work/expected" <<'TXT'
from-0: tool_calls, 2 calls: call_1 {"city":"Oslo"}, call_2 {"city":"Rome"}
without: tool_calls, 0 calls: 
same: tool_calls, 1 calls: call_2 {"city":"Oslo"}{"city":"Rome"}
from-1: Cannot read properties of undefined (reading 'type')
TXT
diff "$work/expected" "$work/seen" || { echo 'changed'; exit 1; }
echo 'as described'
