import { describe, expect, test } from 'vitest';
import { checkApiKeyTerms, completedTerms } from '../../../src/domain/api-key/api-key-terms.js';
import {
  aliasedModel,
  checkModelAliases,
  type ModelAlias,
  namedAliases,
} from '../../../src/domain/api-key/model-aliases.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { refusal } from '../../support/refusal.js';

const alias = (name: string, model = 'gpt-4o'): ModelAlias => ({ name, model });

describe('an alias of a model', () => {
  const aliases = [
    alias('claude-*', 'broad'),
    alias('claude-*-haiku', 'small'),
    alias('claude-opus-5', 'whole'),
    alias('gpt-4o'),
  ];

  test.each([
    ['a whole name comes before those with a wildcard', 'claude-opus-5', 'whole'],
    ['of two wildcards the first that matches counts', 'claude-3-5-haiku', 'broad'],
    ['a wildcard matches an empty text as well', 'claude-', 'broad'],
    ['another name is no alias', 'claud', null],
    ['an alias of the same name is ignored', 'gpt-4o', null],
  ])('%s', (_rule, name, model) => {
    expect(aliasedModel(aliases, name)).toBe(model);
  });

  test.each([
    ['claude-*-haiku', 'claude-3-haiku', true],
    ['claude-*-haiku', 'claude-haiku', false],
    ['claude-*-haiku', 'claude--haiku', true],
    ['*', 'anything', true],
    ['*haiku', 'claude-haiku', true],
    ['a.c', 'abc', false],
  ])('with the name %s is meant by %s: %s', (name, asked, isMeant) => {
    expect(aliasedModel([alias(name)], asked)).toBe(isMeant ? 'gpt-4o' : null);
  });

  test('is listed where it has no wildcard and names another model', () => {
    expect(namedAliases(aliases)).toEqual([alias('claude-opus-5', 'whole')]);
    expect([namedAliases(undefined), aliasedModel(undefined, 'm')]).toEqual([[], null]);
  });
});

describe('a list of aliases', () => {
  test.each([
    ['of 51 entries', Array.from({ length: 51 }, (_, at) => alias(`a${at}`)), 'modelAliases'],
    ['with a name of 256 bytes', [alias('é'.repeat(128))], 'modelAliases.0.name'],
    ['with an empty name', [alias('')], 'modelAliases.0.name'],
    ['with an empty model', [alias('a'), alias('b', '')], 'modelAliases.1.model'],
    ['with two wildcards in a name', [alias('*-*')], 'modelAliases.0.name'],
    ['with a wildcard in a model', [alias('a', 'gpt-*')], 'modelAliases.0.model'],
    ['with a name twice', [alias('a'), alias('a', 'b')], 'modelAliases.1.name'],
    ['with a control character', [alias('a\n')], 'modelAliases.0.name'],
  ])('is refused %s, and the field is named', (_what, modelAliases, field) => {
    const terms = apiKeyTerms({ modelAliases });
    expect(() => checkApiKeyTerms(terms, null)).toThrow(refusal('invalid-field'));
    expect(() => checkModelAliases(modelAliases)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    );
    // What is stored already may be older than a bound.
    expect(() => checkApiKeyTerms(terms, terms)).not.toThrow();
  });

  test('is kept by an edit that leaves it out, replaced by one that gives it, and not stored when it is empty', () => {
    const before = apiKeyTerms({ modelAliases: [alias('a')] });
    const { modelAliases: _, ...without } = before;
    expect(completedTerms(without, before)).toEqual(before);
    expect(completedTerms({ ...without, modelAliases: [alias('b')] }, before).modelAliases).toEqual([alias('b')]);
    for (const none of [completedTerms({ ...without, modelAliases: [] }, before), completedTerms(without, null)])
      expect(none).toStrictEqual(without);
  });

  test('is stored with its two members alone', () => {
    const given = [{ ...alias('a'), more: 'x' }];
    expect(completedTerms({ ...apiKeyTerms(), modelAliases: given }, null).modelAliases).toStrictEqual([alias('a')]);
  });
});
