import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { startUpstream, type Upstream } from './upstream.js';

/* An upstream that says a few words in the protocol of its vendor and reports the usage that a test has scripted. */

export type UsageWire = 'openai' | 'anthropic' | 'gemini';

/** What an answer reports, in the vendor's own members. */
export interface Reported {
  /** OpenAI's and Anthropic's `usage`, Gemini's `usageMetadata`. */
  readonly usage: JsonObject;
  /** Beside it, in the answer itself: a tier of service. */
  readonly answer?: JsonObject;
  /** Of Gemini's candidate: what a search was asked. */
  readonly candidate?: JsonObject;
}

const words = 'A ledger is a record.';
const data = (response: JsonObject): string => `data: ${JSON.stringify(response)}\n\n`;
const event = (type: string, rest: JsonObject): string => `event: ${type}\n${data({ type, ...rest })}`;

function openAiAnswer({ usage, answer }: Reported, stream: boolean): string {
  const head = { id: 'c', created: 1, model: 'm', ...answer };
  const [message, finish_reason] = [{ role: 'assistant', content: words }, 'stop'];
  if (!stream)
    return JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
  const chunk = { ...head, object: 'chat.completion.chunk' };
  return [
    data({ ...chunk, choices: [{ index: 0, delta: message }] }),
    data({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] }),
    data({ ...chunk, choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

function anthropicAnswer({ usage, answer }: Reported, stream: boolean): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', ...answer };
  if (!stream)
    return JSON.stringify({ ...message, content: [{ type: 'text', text: words }], stop_reason: 'end_turn', usage });
  return [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    event('message_stop', {}),
  ].join('');
}

function geminiAnswer({ usage, answer, candidate }: Reported, stream: boolean): string {
  const content = { role: 'model', parts: [{ text: words }] };
  const response = {
    candidates: [{ content, index: 0, finishReason: 'STOP', ...candidate }],
    usageMetadata: usage,
    ...answer,
  };
  return stream ? data(response) : JSON.stringify(response);
}

const answers = { openai: openAiAnswer, anthropic: anthropicAnswer, gemini: geminiAnswer };

/** `reported`: for the request that came; `whenReady`: holds its answer back. */
export const startUsageUpstream = (
  wire: UsageWire,
  reported: (body: string) => Reported,
  whenReady: (body: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<Upstream> =>
  startUpstream(({ url, body }, response) => {
    const asked = parseJson(body);
    const stream = (isObject(asked) && asked.stream === true) || url.includes('streamGenerate');
    void whenReady(body).then(() => {
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(answers[wire](reported(body), stream));
    });
  });
