#!/usr/bin/env bash
# Mistral's client 2.7.0 (npm @mistralai/mistralai), Node 20 or newer, `chat.stream` at a server of the OpenAI form.
#
# In that form a streamed tool call comes in fragments: the first has the name of the function, later ones have only the
# next piece of `arguments`. The client checks each fragment by the schema of a whole call. The first fragment is handed
# out; the second ends the loop with a bare ZodError ("Invalid input: expected string, received undefined" at
# choices[0].delta.tool_calls[0].function.name), which is none of the client's own error classes. The same answer with the
# name in every fragment, and the same answer without tools, are read to their end.
#
# Expected: fragments are handed out as they come, or an error of the client's own says that the answer was not understood.
# For a server: a client of this kind reads a tool call only if its stream has it in one piece.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work" --no-audit --no-fund --no-save --silent @mistralai/mistralai@2.7.0
cat > "$work/ask.mjs" <<'JS'
import { createServer } from 'node:http';
import { Mistral } from '@mistralai/mistralai';
import { MistralError } from '@mistralai/mistralai/models/errors';

const chunk = (delta, finish_reason = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (name, more, args) => ({ tool_calls: [{ index: 0, ...more, function: { ...name, arguments: args } }] });
const first = call({ name: 'weather' }, { id: 'call_1', type: 'function' }, '{"city":');
const streams = {
  fragments: [chunk(first), chunk(call({}, {}, '"Oslo"}')), chunk({}, 'tool_calls')],
  named: [chunk(first), chunk(call({ name: 'weather' }, { id: 'call_1' }, '"Oslo"}')), chunk({}, 'tool_calls')],
  text: [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')],
};
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const [, name] = request.url.split('/');
  for (const payload of streams[name]) response.write(`data: ${JSON.stringify(payload)}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
for (const name of Object.keys(streams)) {
  const serverURL = `http://127.0.0.1:${server.address().port}/${name}`;
  let read = 0;
  try {
    const messages = [{ role: 'user', content: 'Hello' }];
    for await (const _ of await new Mistral({ apiKey: 'key', serverURL }).chat.stream({ model: 'm', messages })) read++;
    console.log(`${name}: ${read} chunks, read to the end`);
  } catch (error) {
    const own = error instanceof MistralError ? 'of its own' : 'not of its own';
    const path = error.issues?.[0]?.path?.join('.');
    console.log(`${name}: ${read} chunks, then ${error.constructor.name}, ${own}, at ${path}`);
  }
}
server.close();
server.closeAllConnections();
JS
timeout 60 node "$work/ask.mjs" | tee "$work/seen"
cat > "$work/expected" <<'TXT'
fragments: 1 chunks, then ZodError, not of its own, at data.choices.0.delta.tool_calls.0.function.name
named: 3 chunks, read to the end
text: 3 chunks, read to the end
TXT
diff "$work/expected" "$work/seen" || { echo 'changed'; exit 1; }
echo 'as described'
