import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { readMasterKey } from '../../src/adapters/vault/master-key.js';
import { personalDataPurposes } from '../../src/adapters/vault/personal-data.js';
import { startGateway } from '../../src/bootstrap/gateway.js';
import { startSimulatedProvider } from '../../src/demo/simulated-provider.js';
import { signIn } from '../support/gateway/sign-in.js';
import { configFor } from '../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { channelSettings } from '../support/given/channel-settings.js';
import { createEmptyDatabase } from '../support/postgres/postgres.js';

/* A key that serves two purposes lets what is made for one be shown for the other (CVE-2026-114612). */

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const uses = files.flatMap((name) =>
  [...readFileSync(join(source, name), 'utf8').matchAll(/[kK]ey\.derive\(([^)]*)\)/g)].map(([, given = '']) => ({
    name,
    given,
  })),
);
const literal = (given: string): string | null => /^'([^']+)'$/.exec(given)?.[1] ?? null;
const purposes = [...uses.map(({ given }) => literal(given)).filter((one) => one !== null), ...personalDataPurposes];

test('each purpose derives its key in one place of the code, from a literal name', () => {
  expect(purposes).toEqual(expect.arrayContaining(['sessions', 'tickets', 'ticket hash', 'vault', 'vault hash']));
  expect(new Set(purposes).size).toBe(purposes.length);
  const named = uses.filter(({ given }) => literal(given) === null).map(({ given }) => given);
  expect(
    named.every((given) => /^purpose$|^personalDataPurposes\[\d\]$/.test(given)),
    named.join(),
  ).toBe(true);
});

test('no two purposes have the same key', async () => {
  const key = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '' });
  const derived = [...purposes, 'check'].map((purpose) => key.derive(purpose).toString('hex'));
  expect(new Set(derived).size).toBe(new Set([...purposes, 'check']).size);
});

/** Where the text stands as a name or a string of its own; comments do not count. */
const mentions = (text: string, word: string): ts.Node[] => {
  const found: ts.Node[] = [];
  if (!text.includes(word)) return found;
  const look = (node: ts.Node): void => {
    if ((ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && node.text === word) found.push(node);
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true));
  return found;
};

const mentioning = (word: string): string[] =>
  files.filter((name) => mentions(readFileSync(join(source, name), 'utf8'), word).length > 0).sort();

test('the secret is named only in the configuration and in the master key', () => {
  const demo = 'cli/demo.ts';
  expect(mentioning('secretKey')).toEqual(['adapters/vault/master-key.ts', demo, 'config.ts']);
  // The demo has none: it says so.
  const [none, ...more] = mentions(readFileSync(join(source, demo), 'utf8'), 'secretKey');
  expect(none?.parent.getText()).toBe('secretKey: null');
  expect(more).toEqual([]);
  expect(mentioning('secret.key')).toEqual(['adapters/vault/master-key.ts']);
  expect(mentioning('SECRET_KEY')).toEqual(['adapters/vault/master-key.ts', 'config.ts']);
});

test('a gateway that starts, signs a user in, keeps a secret and serves a call reads the secret in one place', async () => {
  const database = await createEmptyDatabase();
  const upstream = await startSimulatedProvider();
  const plain = configFor(database);
  const readers: string[] = [];
  const vault = {
    dataDir: plain.vault.dataDir,
    get secretKey() {
      // The first line is the message, the second this getter.
      readers.push(new Error().stack?.split('\n')[2] ?? '');
      return plain.vault.secretKey;
    },
  };
  const gateway = await startGateway({ ...plain, vault }, pino({ level: 'silent' }));
  try {
    const { application } = gateway;
    const password = 'root-password-1';
    const setUp = { username: 'root', password, confirmPassword: password, mode: 'self' } as const;
    await application.visible(await application.setup.complete(setUp));
    const { user } = await signIn(application.identity, 'root', password);
    const root = { id: user.id, role: user.role };
    const settings = channelSettings({ models: ['gpt-4o'], baseUrl: upstream.url });
    const added = await application.channels.add(root, { settings, key: 'sk-upstream', proxy: '', enabled: true });
    const issued = await application.apiKeys.issue(root, { terms: apiKeyTerms({ unlimited: true }), quota: 0 });
    await application.visible(added.position);
    await application.visible(issued.position);
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${issued.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'What is a ledger?' }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('usage')]);
  } finally {
    await gateway.stop();
    await upstream.stop();
    await database.drop();
  }
  expect(readers.length).toBeGreaterThan(0);
  for (const reader of readers) expect(reader).toMatch(/readMasterKey.*adapters\/vault\/master-key\.ts/);
});

test('keys can be derived from the master key, but the secret cannot be read from it', async () => {
  const secretKey = 'a secret that is long enough: 32+';
  const key = await readMasterKey({ secretKey, dataDir: '' });
  expect(Object.keys(key)).toEqual(['derive']);
  for (const purpose of [...purposes, '', 'tallygate']) {
    const derived = key.derive(purpose);
    expect(derived).toHaveLength(32);
    expect(derived.includes(secretKey.slice(0, 16))).toBe(false);
  }
});
