import { describe, expect, test } from 'vitest';
import { failureKinds } from '../../src/domain/kernel/failure.js';
import { refusals } from '../../src/graphql/server/errors.js';
import { failuresEn } from '../../web/src/kit/words/failures.en.js';
import { failuresZh } from '../../web/src/kit/words/failures.zh.js';

type Dictionary = Readonly<Record<string, string>>;
type Module = Readonly<Record<string, Dictionary>>;

const chinese = import.meta.glob<Module>('../../web/src/**/*.zh.ts', { eager: true });
const english = import.meta.glob<Module>('../../web/src/**/*.en.ts', { eager: true });

const only = (module: Module | undefined): Dictionary => {
  const [dictionary, ...others] = Object.values(module ?? {});
  if (dictionary === undefined || others.length > 0) throw new Error('a dictionary module exports one dictionary');
  return dictionary;
};

const pairs = Object.keys(chinese).map(
  (path) =>
    [path.replace('../../web/src/', ''), only(chinese[path]), only(english[path.replace('.zh.ts', '.en.ts')])] as const,
);

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? '').sort();

describe.each(pairs)('the dictionary %s and its translation', (_path, zh, en) => {
  test('have the same keys', () => {
    expect(Object.keys(en).sort()).toEqual(Object.keys(zh).sort());
  });
  test('have a text under each key', () => {
    expect(Object.entries({ ...zh, ...en }).filter(([, text]) => text.trim() === '')).toEqual([]);
  });
  test('take the same values', () => {
    const differing = Object.keys(zh).filter(
      (key) => String(placeholders(zh[key] ?? '')) !== String(placeholders(en[key] ?? '')),
    );
    expect(differing).toEqual([]);
  });
});

describe('the dictionary of refusals', () => {
  test('has every code of the system', () => {
    const codes = [...Object.keys(failureKinds), ...Object.keys(refusals), 'internal-error'];
    expect(codes.filter((code) => !(code in failuresZh) || !(code in failuresEn))).toEqual([]);
    expect(Object.keys(failuresZh).filter((code) => !codes.includes(code))).toEqual([]);
  });
});

test('every English dictionary has its Chinese reference', () => {
  const orphans = Object.keys(english).filter((path) => !(path.replace('.en.ts', '.zh.ts') in chinese));
  expect(orphans).toEqual([]);
  expect(pairs.length).toBeGreaterThan(5);
});
