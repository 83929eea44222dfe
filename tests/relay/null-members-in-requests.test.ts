import { describe, expect, test } from 'vitest';
import { requestsAsMeant } from '../../fuzz/dialects/requests-as-meant.js';
import type { Endpoint } from '../../src/relay/contracts/endpoint.js';
import { NotConvertible, type Provider } from '../../src/relay/contracts/protocol.js';
import { anthropicCountTokens as anthropicCount } from '../../src/relay/dialects/anthropic/endpoints/count-tokens.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { anthropicNames } from '../../src/relay/dialects/anthropic/names.js';
import { geminiCountTokens as geminiCount } from '../../src/relay/dialects/gemini/endpoints/count-tokens.js';
import { batchEmbedContents, embedContent } from '../../src/relay/dialects/gemini/endpoints/embed-content.js';
import {
  generateContent,
  streamOfEvents,
  streamOfMembers,
} from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { predict } from '../../src/relay/dialects/gemini/endpoints/predict.js';
import { geminiNames } from '../../src/relay/dialects/gemini/names.js';
import { openAiNames, responsesNames } from '../../src/relay/dialects/openai/names.js';
import { isObject, type JsonObject } from '../../src/relay/json/json.js';
import { camelOf } from '../../src/relay/protocols/gemini/names.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { providers } from '../../src/relay/providers/registry.js';
import { inputTokens } from '../support/given/input-tokens.js';
import { bare, nameOf, nulledAt, type Path, pathText, placesIn, valueAt, withoutAt } from '../support/null-members.js';
import { endpoints } from '../support/upstreams/endpoints.js';
import { callerOf, plainChannel, usualOptions } from './providers/golden.js';

/*
 * Clients in typed languages write members that nobody gave as null. Null in any place of a request is as good as none
 * there, or is refused by its name: for whoever reads the request here, and in what every provider is sent.
 */

const model = 'some-model';
const key = JSON.stringify({
  ...{ type: 'service_account', project_id: 'p', client_email: 'a@b.example', private_key: 'k' },
});
const channelOf = ({ documentKey }: Provider) => ({
  ...plainChannel,
  ...{ baseUrl: 'https://upstream.example', key: documentKey ? key : 'a|b|c', other: 'global' },
});

/** What a provider is sent, what is null left out; or why it cannot be asked. */
function sentTo(provider: Provider, endpoint: Endpoint, body: JsonObject): unknown {
  const caller = {
    ...callerOf(endpoint.mode, body),
    dialect: endpoint.dialect,
    stream: endpoint.asksForStream(body),
    wantsUsage: endpoint.asksForUsage(body),
    neutral: neutralOf(endpoint, body),
  };
  try {
    const request = provider.protocol.request({
      provider,
      channel: channelOf(provider),
      caller,
      model,
      options: usualOptions,
    });
    return { url: request.url, content: bare(request.content) };
  } catch (error) {
    if (error instanceof NotConvertible) return { notConvertible: error.message };
    throw error;
  }
}

interface Read {
  /** null: it is taken. */
  readonly refused: string | null;
  /** What is read of it here. */
  readonly asked: unknown;
  /** The hold for its prompt. */
  readonly held: { readonly expected: number; readonly conservative: number; readonly max: number };
  readonly sent: ReadonlyMap<Provider, unknown>;
}

const nothingHeld = { expected: 0, conservative: 0, max: 0 };

function read(endpoint: Endpoint, body: JsonObject, by: readonly Provider[]): Read {
  const wrong = endpoint.dialect.misspelled(body) ?? endpoint.invalid(body, null);
  if (wrong !== null)
    return { refused: `${wrong.param}: ${wrong.message}`, asked: null, held: nothingHeld, sent: new Map() };
  const names = new Set([model]);
  const { prompt, answers, asked } = endpoint.demand({ body, bytes: 20_000, model, names, upload: null });
  return {
    refused: null,
    asked: {
      ...{ answers, asked, texts: endpoint.promptTexts(body), stream: endpoint.asksForStream(body) },
      ...{ usage: endpoint.asksForUsage(body), sound: endpoint.asksForAudio(body) },
    },
    held: inputTokens(prompt),
    sent: new Map(
      by.filter(({ modes }) => modes.includes(endpoint.mode)).map((one) => [one, sentTo(one, endpoint, body)]),
    ),
  };
}

const meant = requestsAsMeant(model, 'Hello.', false);
const bodyAt = (path: string): JsonObject => {
  const found = meant.find((one) => one.path.endsWith(path));
  if (found === undefined) throw new Error(`no sample of ${path}`);
  return { model, ...found.body } as JsonObject;
};
const drawing: JsonObject = {
  model,
  instances: [{ prompt: 'A cat.', image: { bytesBase64Encoded: 'aGk=', mimeType: 'image/png' } }],
  parameters: { sampleCount: 1, aspectRatio: '1:1' },
};

/** One provider of each wire, and some with edits of their own. */
const wires = providers.filter(({ name }) =>
  /^(OpenAI|Anthropic Claude|Google Gemini|Mistral|DeepSeek|Zhipu GLM)$/.test(name),
);
/** Where what is said is read by every provider's own rules. */
const conversations: readonly Endpoint[] = [endpoints.chat, messages, generateContent];

const samples: readonly (readonly [string, Endpoint, JsonObject])[] = [
  ['chat of OpenAI', endpoints.chat, bodyAt('/v1/chat/completions')],
  ['completions', endpoints.completions, bodyAt('/v1/completions')],
  ['embeddings of OpenAI', endpoints.embeddings, bodyAt('/v1/embeddings')],
  ['speech', endpoints.speech, bodyAt('/v1/audio/speech')],
  ['messages of Anthropic', messages, bodyAt('/v1/messages')],
  ['what Anthropic counts', anthropicCount, bodyAt('/v1/messages/count_tokens')],
  ['contents of Gemini', generateContent, bodyAt(':generateContent')],
  ['contents of Gemini, streamed as events', streamOfEvents, bodyAt(':generateContent')],
  ['contents of Gemini, streamed as an array', streamOfMembers, bodyAt(':generateContent')],
  ['embeddings of Gemini', embedContent, bodyAt(':embedContent')],
  ['many embeddings of Gemini', batchEmbedContents, bodyAt(':batchEmbedContents')],
  ['what Gemini counts', geminiCount, bodyAt(':countTokens')],
  ['pictures of Gemini', predict, drawing],
];

/** What stands in these is the caller's own: null is a value there. */
const callersOwn =
  /(^|\.)(parameters|schema|input_schema|args|response|logit_bias|extra_content)\.|\.input\.|json_schema\.schema$/;
const isCallersOwn = (path: Path): boolean => callersOwn.test(pathText(path));

/** Where one provider is sent something else than without the member, and does not refuse it by its place. */
function differing(nulled: Read, absent: Read, path: Path): string[] {
  return [...nulled.sent].flatMap(([provider, sent]) => {
    const without = absent.sent.get(provider);
    if (JSON.stringify(sent) === JSON.stringify(without)) return [];
    const refusal = isObject(sent) ? sent.notConvertible : null;
    if (typeof refusal === 'string' && refusal.includes(nameOf(path))) return [];
    return [`${pathText(path)} as null changes what ${provider.name} is sent: ${JSON.stringify(sent)}`];
  });
}

function faultsOf(endpoint: Endpoint, body: JsonObject, path: Path): string[] {
  const where = pathText(path);
  const by = conversations.includes(endpoint) ? providers : wires;
  const nulled = read(endpoint, nulledAt(body, path), by);
  if (nulled.refused !== null)
    return nulled.refused.includes(nameOf(path)) ? [] : [`${where} is refused by another name: ${nulled.refused}`];
  if (isCallersOwn(path)) return [];
  const absent = read(endpoint, withoutAt(body, path), by);
  if (absent.refused !== null) return [`${where} is needed, and taken as null: ${absent.refused}`];
  if (JSON.stringify(nulled.asked) !== JSON.stringify(absent.asked)) return [`${where} as null is read otherwise`];
  return differing(nulled, absent, path);
}

describe.each(samples)('null in a member of %s', (_name, endpoint, body) => {
  test('is treated as absent, or is refused by name', () => {
    const whole = read(endpoint, body, providers);
    expect(whole.refused).toBeNull();
    const paths = placesIn(body);
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.flatMap((path) => faultsOf(endpoint, body, path))).toEqual([]);
  });
});

/** Members that decide by being there. */
const namesOf = ({ dialect }: Endpoint): readonly string[] => {
  if (dialect.wire === 'task') return [];
  const { exact } = { openai: openAiNames, anthropic: anthropicNames, gemini: geminiNames, responses: responsesNames }[
    dialect.wire
  ];
  const tools = ['googleMaps', 'google_search', 'retrieval', 'fileSearch', 'mcpServers', 'enterpriseWebSearch'];
  return [...exact, ...tools];
};

/** What the name of a member and its null add to a prompt at most. */
const fewTokens = 20;

function faultsOfMore(endpoint: Endpoint, body: JsonObject, whole: Read, path: Path): string[] {
  const holder = valueAt(body, path) as object;
  const spelt = new Set(Object.keys(holder).map(camelOf));
  const absent = namesOf(endpoint).filter((name) => !spelt.has(camelOf(name)) && name !== 'model');
  // Both spellings of one member beside each other are refused as that.
  const rounds = [absent.filter((name) => !name.includes('_')), absent.filter((name) => name.includes('_'))];
  return rounds.flatMap((more) => {
    const nulled = more.reduce((made, name) => nulledAt(made, [...path, name]), body);
    const reported = read(endpoint, nulled, wires);
    const where = `${pathText(path)} with nulls`;
    if (reported.refused !== null) return [`${where} is refused: ${reported.refused}`];
    const room = more.length * fewTokens;
    const higher = (['expected', 'conservative', 'max'] as const).filter(
      (one) => reported.held[one] > whole.held[one] + room,
    );
    if (higher.length > 0) return [`${where} raises what is held: ${JSON.stringify(reported.held)}`];
    if (JSON.stringify(reported.asked) !== JSON.stringify(whole.asked)) return [`${where} is read otherwise`];
    return differing(reported, whole, [...path, 'with nulls']);
  });
}

describe.each(samples)('a null for every absent member of %s', (_name, endpoint, body) => {
  test('changes neither the reservation nor the request that is sent', () => {
    const whole = read(endpoint, body, wires);
    const objects = [[], ...placesIn(body)].filter((path: Path) => isObject(valueAt(body, path)));
    const ours = objects.filter((path: Path) => !isCallersOwn([...path, 'any']));
    expect(ours.flatMap((path: Path) => faultsOfMore(endpoint, body, whole, path))).toEqual([]);
  });
});
