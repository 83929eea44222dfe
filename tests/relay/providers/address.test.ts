import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isImageMode, type Mode } from '../../../src/domain/channel/provider.js';
import { NotConvertible, type Provider, wireOf } from '../../../src/relay/contracts/protocol.js';
import { anthropicCaller } from '../../../src/relay/dialects/anthropic/dialect.js';
import { geminiCaller } from '../../../src/relay/dialects/gemini/dialect.js';
import { providers } from '../../../src/relay/providers/registry.js';
import { serviceAccountDocument } from '../../support/upstreams/vertex-upstream.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

/* A caller chooses the model's name. It must not choose with it where the channel's key is sent. */

/** The account or version that some types want. Dify's says of what kind its app is. */
const other = 'acc0unt';
const otherFor = ({ type }: Provider): string => (type === 37 ? 'chat' : other);

const keyFor = ({ documentKey, keyForm }: Provider): string => {
  if (documentKey) return serviceAccountDocument('https://tokens.example/token');
  const keys = [plainChannel.key, 'sk-plain|us-east-1', 'plain-id.plain-secret'];
  return keys.find((key) => keyForm?.pattern.test(key) !== false) ?? plainChannel.key;
};

const addressOf = (provider: Provider, mode: Mode, baseUrl: string, model: string, query = ''): string => {
  const channel = { ...plainChannel, key: keyFor(provider), baseUrl, other: otherFor(provider) };
  const drawn = { prompt: 'hi', size: '1280x720', n: 1 };
  const said = { messages: [{ role: 'user', content: 'hi' }], input: 'hi', seconds: 4 };
  // Of pictures nothing is carried that is not theirs.
  const body = { model, ...drawn, ...(isImageMode(mode) ? { images: [] } : said) };
  // Tokens are counted for callers who speak the provider's wire.
  const dialect = [14, 33].includes(provider.type) ? anthropicCaller : geminiCaller;
  const file = { name: 'file', fileName: 'a.wav', type: 'audio/wav', bytes: Buffer.from('RIFF') };
  const files = ['transcription', 'translation', 'image-edit'].includes(mode) ? [file] : null;
  const caller = { ...callerOf(mode, body, query), files, ...(mode === 'counting' && { dialect }) };
  return wireOf(provider, mode).request({ provider, channel, caller, model, options: usualOptions }).url;
};

/** The address, or null where the name is refused as the caller's mistake. */
const addressOrRefusal = (...call: Parameters<typeof addressOf>): string | null => {
  try {
    return addressOf(...call);
  } catch (error) {
    expect(error).toMatchObject({ name: NotConvertible.name, fault: 'caller' });
    return null;
  }
};

const bases = ['https://upstream.example/root', 'https://u:p@upstream.example:8443/root/'];
const customBases = [
  'https://upstream.example/root/{model}',
  'https://upstream.example/root/{model}/chat?v=1',
  'https://upstream.example/root/x-{model}-y/chat/completions',
  'https://upstream.example/root/chat?model={model}&v=1',
];
const isCountedAtBedrock = ({ type }: Provider, mode: Mode, base: string): boolean =>
  type === 33 && mode === 'counting' && !base.endsWith('/anthropic');

const isOfSomeModels = ({ type }: Provider, mode: Mode): boolean =>
  (type === 41 && mode === 'responses') || (type === 39 && ['translation', 'image-edit'].includes(mode));

/** At some, an interface lies below an address of its own. */
const moreBases: Readonly<Record<number, readonly string[]>> = {
  3: ['https://upstream.example/root/openai/v1'],
  8: customBases,
  33: ['https://upstream.example/root/openai/v1', 'https://upstream.example/root/anthropic'],
};
const cases = providers.flatMap((provider) =>
  provider.modes.flatMap((mode) =>
    [...bases, ...(moreBases[provider.type] ?? [])]
      // The address of chat takes nothing else that has an address of its own.
      .filter((base) => mode !== 'responses' || !base.endsWith('/chat/completions'))
      .filter((base) => provider.type === 8 || provider.lacks?.(mode, base) !== true)
      // Of some makers' models only, which are tried by their names.
      .filter((base) => !isOfSomeModels(provider, mode) && !isCountedAtBedrock(provider, mode, base))
      .map((base) => [provider, mode, base] as const),
  ),
);

const hostile = [
  'gpt-4-gizmo-../../../admin?x=1#',
  '../../admin',
  '..',
  '.',
  '',
  '/',
  '//evil.example/v1',
  'https://evil.example/v1',
  '@evil.example',
  '\\\\evil.example\\v1',
  '..\\..\\admin',
  '%2e%2e/%2E%2E/admin',
  '..;/admin',
  'm?x=1',
  'm#fragment',
  'm&v=2',
  'm/../../admin',
  'm\r\nhost: evil.example',
  'm\u0000',
  '\ud800',
  '．．/admin',
  '{model}',
  '$&$1',
  'gpt-3.5/../../x',
  'bot/../..',
];

const plainModel = 'a-plain-model';

function expectSameAddress(provider: Provider, mode: Mode, base: string, model: string, plain = plainModel): void {
  const address = addressOrRefusal(provider, mode, base, model);
  if (address === null) return;
  const usual = addressOf(provider, mode, base, plain);
  const [before = '', ...after] = usual.split(plain);
  const url = new URL(address);
  expect(url.origin).toBe('https://upstream.example'.concat(base.includes(':8443') ? ':8443' : ''));
  expect(url.hash).toBe('');
  // A slash in the name says that another's wire is spoken, where the name is in the body.
  const isElsewhere = provider.type === 41 && /\/(endpoints\/openapi|publishers\/openai\/v1)\/[a-z/]+$/.test(address);
  if (after.length === 0 || isElsewhere) {
    // The name is in the body only; some providers serve some names elsewhere.
    expect(url.pathname).toMatch(/^\/root(\/|$)/);
    expect(url.search).toBe(new URL(usual).search);
    return;
  }
  expect(address.startsWith(before) && address.endsWith(after.join(plain))).toBe(true);
  expect(url.pathname.startsWith(new URL(before).pathname)).toBe(true);
  expect([...url.searchParams.keys()]).toEqual([...new URL(usual).searchParams.keys()]);
  // Some have small letters in their paths.
  expect(
    decodeURIComponent(url.pathname + url.search)
      .replaceAll('+', ' ')
      .toLowerCase(),
  ).toContain(model.replace(/^gpt-3\.5/, provider.type === 3 ? 'gpt-35' : 'gpt-3.5').toLowerCase());
}

describe('the address of a request', () => {
  test.each(hostile)('is not determined by a model called %j', (model) => {
    for (const [provider, mode, base] of cases) expectSameAddress(provider, mode, base, model);
  });

  test('is not determined by any name', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '?',
      '#',
      '%2e',
      '%2f',
      '@',
      ':',
      'm',
      'gpt-3.5',
      'bot',
      '&',
      ' ',
    );
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(name, fc.constantFrom(...cases), (model, [provider, mode, base]) =>
        expectSameAddress(provider, mode, base, model),
      ),
      { numRuns: 3000 },
    );
  });

  test.each(['claude-', 'gemini-', 'imagen-', 'text-embedding-', 'gpt-5', 'xai/grok-'])(
    'is not determined by a name that begins with %s and has a protocol of its own for that',
    (beginning) => {
      const vertex = providerOfType(41);
      const modes: Readonly<Record<string, Mode>> = {
        ...{ 'text-embedding-': 'embeddings', 'gpt-5': 'responses', 'xai/grok-': 'responses' },
      };
      const mode = modes[beginning] ?? 'chat';
      for (const rest of hostile) {
        const address = addressOrRefusal(vertex, mode, 'https://upstream.example/root', beginning + rest);
        const location = `https://upstream.example/root/v1/projects/proj-test-1/locations/${other}`;
        const { href, search, hash } = new URL(address ?? `${location}/`);
        expect([href.startsWith(`${location}/`), search, hash]).toEqual([true, '', '']);
      }
    },
  );

  test.each(hostile)('is not determined by the rest of a name of Anthropic’s at Amazon: %j', (rest) => {
    for (const mode of ['chat', 'counting'] as const)
      for (const base of bases)
        expectSameAddress(providerOfType(33), mode, base, `anthropic.${rest}`, 'anthropic.plain');
  });

  test('keeps the slashes of names such as vendor/model in a path', () => {
    const [custom, cloudflare] = [providerOfType(8), providerOfType(39)];
    expect(addressOf(custom, 'chat', 'https://u.example/models/{model}/chat', 'meta/llama-3:8b')).toBe(
      'https://u.example/models/meta/llama-3:8b/chat',
    );
    expect(addressOf(cloudflare, 'completions', 'https://u.example', '@cf/meta/llama')).toBe(
      `https://u.example/client/v4/accounts/${other}/ai/run/@cf/meta/llama`,
    );
  });

  test.each(['https://{model}.example/v1', 'https://{model}@u.example/v1', 'https:\\\\{model}.example/v1', '{model}'])(
    'is never a host that the caller names: the channel %s cannot be used',
    (base) => {
      expect(() => addressOf(providerOfType(8), 'chat', base, 'm')).toThrow(
        expect.objectContaining({ name: NotConvertible.name, fault: 'channel' }),
      );
    },
  );

  test("omits the caller's query, except for the version that Azure's callers choose", () => {
    const query = 'key=sk-caller&beta=true&api-version=2025-01-01&v=9';
    for (const [provider, mode, base] of cases) {
      // Of Responses and realtime, versions at Azure lie under addresses of their own, and version 1 takes no dates.
      if (provider.type === 3 && (['responses', 'realtime'].includes(mode) || base.endsWith('/openai/v1'))) continue;
      // Of tasks, who asks how far they are later has no query of the caller's.
      if (provider.type === 3 && mode === 'task') continue;
      const unasked = addressOf(provider, mode, base, plainModel);
      expect(addressOf(provider, mode, base, plainModel, query)).toBe(
        provider.type === 3 ? unasked.replace(`api-version=${other}`, 'api-version=2025-01-01') : unasked,
      );
    }
  });
});
