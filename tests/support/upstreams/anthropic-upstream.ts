import type { ServerResponse } from 'node:http';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { startUpstream, type Upstream, type UpstreamCall } from './upstream.js';

/* An upstream that speaks Anthropic's Messages: it answers as a test says, whole or in events, and remembers what it was asked. */

interface AnthropicCall extends UpstreamCall {
  readonly json: JsonObject;
}

export interface AnthropicUpstream extends Upstream {
  readonly calls: AnthropicCall[];
  /** What it answers from now on; a test's own way where it is a function. */
  respondWith(answer: JsonObject | ((call: AnthropicCall, response: ServerResponse) => void)): void;
}

export const messageOf = (
  content: readonly JsonObject[],
  usage: JsonObject = {},
  rest: JsonObject = {},
): JsonObject => ({
  id: 'msg_01Test',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content,
  stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10, ...usage },
  ...rest,
});

export const eventText = (event: JsonObject): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const pieceLength = 7;

function deltasOf(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const pieces = (text: unknown): string[] => String(text).match(/[\s\S]{1,7}/g) ?? [];
  switch (block.type) {
    case 'text':
      return {
        start: { type: 'text', text: '' },
        deltas: [
          ...pieces(block.text).map((text) => ({ type: 'text_delta', text })),
          ...objectsIn(block.citations).map((citation) => ({ type: 'citations_delta', citation })),
        ],
      };
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      };
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: pieces(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      };
    default:
      return { start: block, deltas: [] };
  }
}

/** The events that carry a message piece by piece. */
export function eventsOf(message: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = message;
  const reported = isObject(usage) ? usage : {};
  const blocks = objectsIn(content).flatMap((block, index): JsonObject[] => {
    const { start, deltas } = deltasOf(block);
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const begun = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...reported, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message: begun },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: reported.output_tokens } },
    { type: 'message_stop' },
  ];
}

const headers = {
  'request-id': 'req_011UpstreamAbc',
  'anthropic-ratelimit-requests-remaining': '41',
  'anthropic-organization-id': 'org-of-the-operator',
};

/** Every byte apart from its neighbours would be slow; few together cut every frame. */
function sendPieces(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceLength * 13) response.write(bytes.subarray(at, at + pieceLength * 13));
  response.end();
}

export async function startAnthropicUpstream(): Promise<AnthropicUpstream> {
  const calls: AnthropicCall[] = [];
  let answer: Parameters<AnthropicUpstream['respondWith']>[0] = messageOf([{ type: 'text', text: 'Hello.' }]);
  const upstream = await startUpstream((asked, response) => {
    const parsed = parseJson(asked.body);
    const call = { ...asked, json: isObject(parsed) ? parsed : {} };
    calls.push(call);
    if (typeof answer === 'function') return answer(call, response);
    if (call.json.stream === true) return sendPieces(response, eventsOf(answer).map(eventText).join(''));
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
  });
  return {
    url: upstream.url,
    stop: () => upstream.stop(),
    calls,
    respondWith: (next) => {
      answer = next;
    },
  };
}
