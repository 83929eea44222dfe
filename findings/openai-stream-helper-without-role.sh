#!/usr/bin/env bash
# OpenAI's client 6.49.0 (npm openai), Node 20 or newer, `chat.completions.stream` at a server of the OpenAI form.
#
# The event `content` hands out no piece before a chunk has said `"role": "assistant"`. Pieces that came earlier are never
# handed out: where the role stands in the last chunk the event never comes, though the whole text is in
# `finalChatCompletion()` after it. Where no chunk has the role, that fails at the end: "missing role for choice 0". No other
# role is possible in an answer, and the type of `delta.role` is optional. `create({ stream: true })` of the same client
# reads all three streams.
#
# Expected: each piece is handed out when it comes. For a server: the role belongs into the first chunk of every choice.
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
const words = [chunk({ content: 'Hel' }), chunk({ content: 'lo' })];
const streams = {
  first: [chunk({ role: 'assistant' }), ...words, chunk({}, 'stop')],
  last: [...words, chunk({ role: 'assistant' }, 'stop')],
  none: [...words, chunk({}, 'stop')],
};
const server = createServer((request, response) => {
  request.resume();
  const [, name] = request.url.split('/');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const payload of streams[name]) response.write(`data: ${JSON.stringify(payload)}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const asked = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
for (const name of Object.keys(streams)) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${name}`;
  const { completions } = new OpenAI({ apiKey: 'key', baseURL, maxRetries: 0 }).chat;
  let plain = '';
  for await (const { choices } of await completions.create({ ...asked, stream: true }))
    plain += choices[0].delta.content ?? '';
  console.log(`${name}, create: ${plain}`);
  let handedOut = '';
  const helper = completions.stream(asked).on('content', (piece) => (handedOut += piece));
  try {
    const { choices } = await helper.finalChatCompletion();
    console.log(`${name}, stream: "${handedOut}" handed out, "${choices[0].message.content}" at the end`);
  } catch (error) {
    console.log(`${name}, stream: "${handedOut}" handed out, then ${error.message}`);
  }
}
server.close();
server.closeAllConnections();
JS
timeout 60 node "$work/ask.mjs" | tee "$work/seen"
cat > "$work/expected" <<'TXT'
first, create: Hello
first, stream: "Hello" handed out, "Hello" at the end
last, create: Hello
last, stream: "" handed out, "Hello" at the end
none, create: Hello
none, stream: "" handed out, then missing role for choice 0
TXT
diff "$work/expected" "$work/seen" || { echo 'changed'; exit 1; }
echo 'as described'
