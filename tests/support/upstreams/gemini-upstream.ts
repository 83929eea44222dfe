import type { JsonObject } from '../../../src/relay/json/json.js';
import { startUpstream, type UpstreamCall } from './upstream.js';

/* An upstream that speaks Gemini's wire: it says what a test has put there, and remembers what it was asked. */

export interface GeminiUpstream {
  readonly url: string;
  /** Newest last. */
  readonly calls: readonly UpstreamCall[];
  /** For what is asked of a model (`generateContent`, …): a body, the responses of a stream, or a refusal. */
  respondWith(action: string, answer: JsonObject | readonly JsonObject[], status?: number): void;
  stop(): Promise<void>;
}

const usageMetadata = {
  promptTokenCount: 100,
  candidatesTokenCount: 20,
  totalTokenCount: 150,
  thoughtsTokenCount: 30,
};

/** One response with these parts. */
export const responseWith = (parts: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
  usageMetadata,
  modelVersion: 'gemini-2.5-flash',
  responseId: 'resp-1',
});

export const eventsOf = (responses: readonly JsonObject[]): string =>
  responses.map((response) => `data: ${JSON.stringify(response)}\r\n\r\n`).join('');

export async function startGeminiUpstream(): Promise<GeminiUpstream> {
  const calls: UpstreamCall[] = [];
  const answers = new Map<string, { readonly status: number; readonly text: string; readonly type: string }>();
  const upstream = await startUpstream((call, response) => {
    calls.push(call);
    const action = /:(\w+)/.exec(call.url)?.[1] ?? '';
    const { status, text, type } = answers.get(action) ?? { status: 404, text: '{}', type: 'application/json' };
    response.writeHead(status, { 'content-type': type }).end(text);
  });
  return {
    url: upstream.url,
    calls,
    respondWith(action, answer, status = 200) {
      const streamed = Array.isArray(answer);
      const text = streamed ? eventsOf(answer) : JSON.stringify(answer);
      answers.set(action, { status, text, type: streamed ? 'text/event-stream' : 'application/json' });
    },
    stop: () => upstream.stop(),
  };
}
