import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  type AnthropicUpstream,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';
import { type GeminiUpstream, responseWith, startGeminiUpstream } from '../../support/upstreams/gemini-upstream.js';

/* Searches that clients of OpenAI's interfaces ask for and other vendors run: charged by the piece, cited in OpenAI's words. */

const claude = 'claude-sonnet-4-5-20250929';
const google = 'gemini-3-pro-preview';
const page = { url: 'https://vedur.is/', title: 'Veðurstofa Íslands' };

let gateway: TestGateway;
let anthropic: AnthropicUpstream;
let gemini: GeminiUpstream;
let user: TestUser;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await startTestGateway();
  anthropic = await startAnthropicUpstream();
  gemini = await startGeminiUpstream();
  await gateway.addChannel({ type: 14, models: [claude], baseUrl: anthropic.url });
  await gateway.addChannel({ type: 24, models: [google], baseUrl: gemini.url });
  const cited = { type: 'web_search_result_location', ...page, encrypted_index: 'x', cited_text: 'Rain.' };
  anthropic.respondWith(
    messageOf(
      [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Höfn' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', ...page }],
        },
        { type: 'text', text: 'Rain.', citations: [cited] },
      ],
      { server_tool_use: { web_search_requests: 2 } },
    ),
  );
  const grounded = responseWith([{ text: 'Rain.' }], {
    finishReason: 'STOP',
    groundingMetadata: {
      webSearchQueries: ['Höfn', 'Höfn weather'],
      groundingChunks: [{ web: { uri: page.url, title: page.title } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 5, text: 'Rain.' }, groundingChunkIndices: [0] }],
    },
  });
  gemini.respondWith('generateContent', grounded);
  gemini.respondWith('streamGenerateContent', [grounded]);
});
afterAll(async () => {
  await gateway?.stop();
  await anthropic?.stop();
  await gemini?.stop();
});
beforeEach(() => as(100_000_000));

async function as(quota: number): Promise<void> {
  user = await gateway.addUser(quota);
  openai = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

const settled = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

const ways: Readonly<Record<string, (model: string) => Promise<readonly JsonObject[]>>> = {
  async chat(model) {
    const messages = [{ role: 'user' as const, content: 'Is it raining in Höfn?' }];
    const asked = { model, max_tokens: 100, messages, web_search_options: {} };
    const { choices } = await openai.chat.completions.create(asked);
    return (choices[0]?.message.annotations ?? []).map((one) => ({ ...one.url_citation }));
  },
  async 'streamed chat'(model) {
    const messages = [{ role: 'user' as const, content: 'Is it raining in Höfn?' }];
    const asked = { model, max_tokens: 100, messages, tools: [{ type: 'web_search' }], stream: true };
    const stream = (await openai.chat.completions.create(asked as never)) as unknown as AsyncIterable<{
      choices: { delta: { annotations?: { url_citation: JsonObject }[] } }[];
    }>;
    const cited: JsonObject[] = [];
    for await (const { choices } of stream)
      cited.push(...choices.flatMap(({ delta }) => (delta.annotations ?? []).map((one) => one.url_citation)));
    return cited;
  },
  async Responses(model) {
    const asked = {
      model,
      max_output_tokens: 100,
      input: 'Is it raining in Höfn?',
      tools: [{ type: 'web_search' as const }],
    };
    const { output } = await openai.responses.create(asked);
    return annotationsIn(output);
  },
  async 'streamed Responses'(model) {
    const asked = {
      model,
      max_output_tokens: 100,
      input: 'Is it raining in Höfn?',
      tools: [{ type: 'web_search' as const }],
    };
    return annotationsIn((await openai.responses.stream(asked).finalResponse()).output);
  },
};
const annotationsIn = (output: readonly OpenAI.Responses.ResponseOutputItem[]): JsonObject[] =>
  output.flatMap((item) =>
    item.type === 'message'
      ? item.content.flatMap((part) =>
          part.type === 'output_text' ? part.annotations.map((one) => ({ ...one }) as JsonObject) : [],
        )
      : [],
  );

describe.each(Object.keys(ways))('a search requested by %s', (way) => {
  test.each([
    // 1.5 × (20 + 10 × 5) + 2 × 0.01 × 500000
    ['Anthropic', claude, 10_105, 'calls:web_search'],
    // 1 × (100 + 50 × 6) + 2 × 0.014 × 500000
    ['Google', google, 14_400, 'calls:google_search'],
  ])('is charged by the piece and cited, at %s', async (_, model, charge, calls) => {
    const cited = await ways[way]?.(model);
    expect(cited).toEqual([expect.objectContaining(page)]);
    const line = await settled();
    expect(line).toMatchObject({ quota: charge, usage: { [calls]: 2 }, usage_source: 'upstream' });
    if (line.price === null) throw new Error('a line without a price');
    expect(chargeOf(line.usage, line.price)).toBe(charge);
  });
});

test.each([claude, google])(
  'a balance that does not cover the searches is refused before a request is sent: %s',
  async (model) => {
    await as(99_000);
    const before = anthropic.calls.length + gemini.calls.length;
    for (const ask of Object.values(ways)) await expect(ask(model)).rejects.toMatchObject({ status: 403 });
    expect(anthropic.calls.length + gemini.calls.length).toBe(before);
  },
);

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(3);
  expect(wrong).toEqual([]);
});
