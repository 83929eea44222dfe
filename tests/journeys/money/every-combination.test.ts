import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  anthropicClient,
  type Conversation,
  type DialectClient,
  geminiClient,
  openAiClient,
} from '../../support/callers/dialect-clients.js';
import { responsesClient } from '../../support/callers/responses-client.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  type Answer,
  type DialectUpstream,
  protocols,
  signature,
  startDialectUpstream,
  type UpstreamWire,
  used,
  wires,
} from '../../support/upstreams/dialect-upstreams.js';

/* Each official client against an upstream of each wire: what is said arrives, both ways, whole and in pieces. */

const opened = { openai: openAiClient, anthropic: anthropicClient, gemini: geminiClient };
const embedders: Readonly<Partial<Record<UpstreamWire, string>>> = {
  openai: 'text-embedding-3-small',
  gemini: 'gemini-embedding-001',
};
const quota = 1_000_000_000;
/** Of a channel of OpenAI's wire without Responses. */
const chatAlone = 'gpt-4o-chat';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4 ö').toString('base64');

let gateway: TestGateway;
let user: TestUser;
const upstreams = new Map<UpstreamWire, DialectUpstream>();
type Client = Omit<DialectClient, 'protocol'>;
/** Who speaks each protocol, and who asks for responses. */
const callers = [...protocols, 'responses'] as const;
let clients: Readonly<Record<(typeof callers)[number], Client>>;

beforeAll(async () => {
  gateway = await startTestGateway({ CALLER_GONE_SECONDS: '1' });
  for (const wire of wires) {
    const upstream = await startDialectUpstream(wire);
    upstreams.set(wire, upstream);
    const { type, model, url, setting } = upstream;
    const embedder = embedders[wire];
    await gateway.addChannel({
      type,
      baseUrl: url,
      name: wire,
      setting,
      models: embedder === undefined ? [model] : [model, embedder],
    });
  }
  const { url = '', model = '' } = upstreams.get('openai') ?? {};
  const modelMapping = JSON.stringify({ [chatAlone]: model });
  await gateway.addChannel({ type: 25, baseUrl: url, name: 'chat', models: [chatAlone], modelMapping });
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await gateway?.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(quota);
  const apiKey = await gateway.addApiKey(user);
  clients = {
    openai: opened.openai(gateway.url, apiKey),
    anthropic: opened.anthropic(gateway.url, apiKey),
    gemini: opened.gemini(gateway.url, apiKey),
    responses: responsesClient(gateway.url, apiKey),
  };
});

/** A blank one is refused at Anthropic's, and the Responses API has none. */
const stopsAt = (wire: UpstreamWire, caller: (typeof callers)[number]): string[] => {
  if (wire === 'responses' || caller === 'responses') return [];
  return wire === 'anthropic' && caller !== 'anthropic' ? ['END'] : ['END', '\n\n'];
};

const settledLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

/** Who asks for responses where there is nothing else is carried as it is: that has tests of its own. */
const combinations = callers.flatMap((caller) =>
  wires.filter((wire) => caller !== 'responses' || wire !== caller).map((wire) => [caller, wire] as const),
);

describe.each(combinations)("%s's client with an upstream of the protocol %s", (caller, wire) => {
  let client: Client;
  let upstream: DialectUpstream;
  const conversation = (more: Partial<Conversation> = {}): Conversation => ({
    model: caller === 'responses' && wire === 'openai' ? chatAlone : upstream.model,
    user: [{ text: 'What is the weather in Höfn and Vík?' }],
    limit: 900,
    ...more,
  });

  beforeEach(() => {
    client = clients[caller];
    const found = upstreams.get(wire);
    if (found === undefined) throw new Error(`there is no upstream of ${wire}`);
    upstream = found;
  });

  const thoughtful: Answer = {
    thinking: 'Two towns: "two" calls.\n',
    text: 'I look at both. 🌧',
    calls: [
      { name: 'weather', args: { city: 'Höfn', deep: { list: [1, 'a"b\\c', null] } } },
      { name: 'weather', args: { city: 'Vík' } },
    ],
  };

  test.each([false, true])('gets thinking, text, parallel tool calls and usage (streamed: %s)', async (stream) => {
    upstream.answerWith(thoughtful);
    const heard = await client.ask(conversation({ tools: ['weather'] }), stream);
    expect(heard).toMatchObject({ ...thoughtful, stop: 'tools', usage: used });
    const line = await settledLine();
    expect(line).toMatchObject({ usage_source: 'upstream', prompt_tokens: used.input, completion_tokens: used.output });
    expect(await gateway.available(user)).toBe(quota - line.quota);
  });

  test.each([false, true])(
    'sends tool calls, results and signatures in the next turn (streamed: %s)',
    async (stream) => {
      upstream.answerWith(thoughtful);
      const heard = await client.ask(conversation({ tools: ['weather'] }), stream);
      upstream.answerWith({ text: 'Rain in both.' });
      const results = ['Rain & "wind"', 'Drizzle'];
      const next = await client.ask(conversation({ tools: ['weather'], before: { received: heard, results } }), stream);
      expect(next).toMatchObject({ text: 'Rain in both.', calls: [], stop: 'end' });
      const meant = upstream.received();
      expect(meant.calls).toEqual(thoughtful.calls);
      expect(
        meant.results.map((text) => text.replace(/^\{"output":"(.*)"\}$/, (_, inner) => JSON.parse(`"${inner}"`))),
      ).toEqual(results);
      expect(meant.messages).toMatchObject([{ role: 'user' }, { role: 'model', text: thoughtful.text }]);
      expect(meant.signatures).toEqual(wire === 'openai' ? [] : [signature]);
    },
  );

  test('sends instructions, pictures, documents, stop sequences, a schema and the limit', async () => {
    upstream.answerWith({ text: '{"name":"A cat"}' });
    await client.ask(
      conversation({
        system: 'Be brief.\nBe kind.',
        user: [{ text: 'What is this?' }, { image: png }, { pdf }],
        // The Responses API has no such thing.
        ...(wire !== 'responses' && { stops: ['END', '\n\n'] }),
        schema: ['name', 'years'],
      }),
      false,
    );
    expect(upstream.received()).toMatchObject({
      system: 'Be brief.\nBe kind.',
      messages: [{ role: 'user', text: 'What is this?' }],
      media: [png, pdf],
      stops: stopsAt(wire, caller),
      schema: ['name', 'years'],
      limit: 900,
    });
  });

  test.each([false, true])('learns that an answer reached its limit (streamed: %s)', async (stream) => {
    upstream.answerWith({ text: 'It goes on and', cut: true });
    expect(await client.ask(conversation(), stream)).toMatchObject({ text: 'It goes on and', stop: 'length' });
  });

  test.each([false, true])('sends twenty tool calls at once, and their results (streamed: %s)', async (stream) => {
    const calls = Array.from({ length: 20 }, (_, at) => ({ name: `look_up_${at % 3}`, args: { city: `${at} ö` } }));
    const tools = ['look_up_0', 'look_up_1', 'look_up_2'];
    upstream.answerWith({ calls });
    const heard = await client.ask(conversation({ tools }), stream);
    expect(heard.calls).toEqual(calls);
    upstream.answerWith({ text: 'Done.' });
    const results = calls.map((_, at) => `result ${at}`);
    await client.ask(conversation({ tools, before: { received: heard, results } }), stream);
    const meant = upstream.received();
    expect(meant.calls).toEqual(calls);
    expect(meant.results.map((text) => /result \d+/.exec(text)?.[0])).toEqual(results);
    expect(meant.tools).toEqual(tools);
  });

  test('sends 200 kB of context, with cache control where the protocol has it', async () => {
    upstream.answerWith({ text: 'Read.' });
    const texts = Array.from({ length: 4 }, (_, at) => `${at} The ledger says ö 🜚. `.repeat(2_000));
    await client.ask(conversation({ user: texts.map((text) => ({ text, kept: true })) }), true);
    const { messages: said, cached } = upstream.received();
    expect(
      said
        .map(({ text }) => text)
        .join('')
        .replace(/\n(?=\d The ledger)/g, ''),
    ).toBe(texts.join(''));
    expect(cached).toBe(wire === 'anthropic' && caller !== 'gemini' && caller !== 'responses' ? 4 : 0);
  });

  test('pays for the output so far when it disconnects in the middle of a tool call', async () => {
    const city = 'x'.repeat(2_000);
    upstream.stalls({ text: 'I look. '.repeat(40), calls: [{ name: 'weather', args: { city } }] });
    await client.disconnectDuringToolCall(conversation({ tools: ['weather'], limit: 4_000 })).catch(() => {});
    const line = await settledLine();
    expect(line).toMatchObject({ outcome: 'caller-left' });
    expect(line.completion_tokens).toBeGreaterThan(20);
    expect(await gateway.available(user)).toBe(quota - line.quota);
  });

  test.each([400, 429, 503])(
    'gets an upstream refusal with %s as a class that the client knows, free of charge',
    async (status) => {
      upstream.refuses(status);
      for (const stream of [false, true]) {
        const error = await client.ask(conversation(), stream).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(client.failure(status));
        expect(error).toMatchObject({ status });
      }
      await until(async () => ((await gateway.available(user)) === quota ? true : null));
    },
  );

  test('counts tokens free of charge: by the upstream where it offers that, otherwise by the gateway', async () => {
    if (client.count === null) return;
    const counted = await client.count(upstream.model);
    if (caller === wire) expect(counted).toBe(42);
    else expect(counted).toBeGreaterThan(0);
    expect(await gateway.available(user)).toBe(quota);
  });

  test('gets vectors where the model exists, one for each text', async () => {
    const model = embedders[wire];
    if (client.embed === null || model === undefined) return;
    expect(await client.embed(model, ['one', 'two'])).toEqual([
      [0.25, -0.5],
      [0.25, -0.5],
    ]);
  });
});
