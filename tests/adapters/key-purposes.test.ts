import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readMasterKey } from '../../src/adapters/master-key.js';
import { personalDataPurposes } from '../../src/adapters/personal-data.js';

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

test('each purpose derives its key at one place of the code, from a name that stands there', () => {
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

test('the secret itself is read by the master key alone', () => {
  const readers = files.filter((name) => /\bsecretKey\b/.test(readFileSync(join(source, name), 'utf8')));
  expect(readers.length).toBeGreaterThan(0);
  for (const name of readers)
    expect(readFileSync(join(source, name), 'utf8'), name).not.toMatch(/create(Hmac|Cipheriv)\([^)]*secretKey/);
});
