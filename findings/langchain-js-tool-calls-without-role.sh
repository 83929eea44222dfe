#!/usr/bin/env bash
# LangChain's client 1.5.8 for OpenAI (npm @langchain/openai, with @langchain/core 1.4.0), Node 20 or newer,
# `ChatOpenAI.stream` at a server of the OpenAI form.
#
# A stream of one tool call, whose first chunk says `"role": "assistant"`, gives an AIMessageChunk with that call. The same
# stream without the role ends without an error, gives a ChatMessageChunk, and the call is in no member of it: neither in
# `tool_calls`, which is undefined, nor in `additional_kwargs`. An agent takes it for an empty answer and ends.
#
# Expected: nobody but the assistant speaks in an answer, so the call is there; or an error. For a server: say the role.
# Exits 0 while it behaves so, 1 when it does not any more.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
timeout 240 npm install --prefix "$work" --no-audit --no-fund --no-save --silent \
  @langchain/openai@1.5.8 @langchain/core@1.4.0
cat > "$work/ask.mjs" <<'JS'
import { createServer } from 'node:http';
import { ChatOpenAI } from '@langchain/openai';

const chunk = (delta, finish_reason = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
const streams = {
  with: [chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls')],
  without: [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')],
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
  const model = new ChatOpenAI({ model: 'm', apiKey: 'key', maxRetries: 0, configuration: { baseURL } });
  let answer = null;
  for await (const piece of await model.stream('Hello')) answer = answer === null ? piece : answer.concat(piece);
  const calls = answer.tool_calls?.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join() ?? 'undefined';
  console.log(`${name}: ${answer.constructor.name}, calls: ${calls}, holds it: ${JSON.stringify(answer).includes('Oslo')}`);
}
server.close();
server.closeAllConnections();
JS
timeout 60 node "$work/ask.mjs" | tee "$work/seen"
cat > "$work/expected" <<'TXT'
with: AIMessageChunk, calls: weather {"city":"Oslo"}, holds it: true
without: ChatMessageChunk, calls: undefined, holds it: false
TXT
diff "$work/expected" "$work/seen" || { echo 'changed'; exit 1; }
echo 'as described'
