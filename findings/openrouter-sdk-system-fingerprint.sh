#!/usr/bin/env bash
# OpenRouter's client 1.3.19 (npm @openrouter/sdk), Node 20 or newer, `chat.send` at a server of the OpenAI form.
#
# A whole answer without `system_fingerprint` is refused with ResponseValidationError, though everything else is there. The
# same answer with `"system_fingerprint": null` is taken, and so is one without `usage`. OpenAI's own reference has both
# members as optional. Streams without the member are read.
#
# Expected: what may be left out in the form may be left out here. For a server: a null costs nothing and is read by all.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work" --no-audit --no-fund --no-save --silent @openrouter/sdk@1.3.19
cat > "$work/ask.mjs" <<'JS'
import { createServer } from 'node:http';
import { OpenRouter } from '@openrouter/sdk';

const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const head = { id: 'c1', created: 1, model: 'm' };
const message = { role: 'assistant', content: 'Hello' };
const whole = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
const delta = { index: 0, delta: message, finish_reason: 'stop' };
const answers = {
  without: { ...whole, usage },
  null: { ...whole, usage, system_fingerprint: null },
  'without-usage': { ...whole, system_fingerprint: null },
  stream: { ...head, object: 'chat.completion.chunk', choices: [delta] },
};
const server = createServer((request, response) => {
  request.resume();
  const [, name] = request.url.split('/');
  const text = JSON.stringify(answers[name]);
  response.writeHead(200, { 'content-type': name === 'stream' ? 'text/event-stream' : 'application/json' });
  response.end(name === 'stream' ? `data: ${text}\n\ndata: [DONE]\n\n` : text);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
for (const name of Object.keys(answers)) {
  const client = new OpenRouter({ apiKey: 'key', serverURL: `http://127.0.0.1:${server.address().port}/${name}` });
  const stream = name === 'stream';
  try {
    const asked = { model: 'm', stream, messages: [{ role: 'user', content: 'Hello' }] };
    const answer = await client.chat.send({ chatRequest: asked });
    let text = stream ? '' : answer.choices[0].message.content;
    if (stream) for await (const chunk of answer) text += chunk.choices[0].delta.content;
    console.log(`${name}: ${text}`);
  } catch (error) {
    const [path] = /system_fingerprint/.exec(String(error.cause?.message)) ?? [];
    console.log(`${name}: ${error.name} at ${path}`);
  }
}
server.close();
server.closeAllConnections();
JS
timeout 60 node "$work/ask.mjs" | tee "$work/seen"
cat > "$work/expected" <<'TXT'
without: ResponseValidationError at system_fingerprint
null: Hello
without-usage: Hello
stream: Hello
TXT
diff "$work/expected" "$work/seen" || { echo 'changed'; exit 1; }
echo 'as described'
