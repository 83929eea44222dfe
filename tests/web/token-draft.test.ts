import { describe, expect, test } from 'vitest';
import type { TokenTermsFragment } from '../../web/src/generated/tokens/tokens.js';
import { isAddressOrRange } from '../../web/src/tokens/addresses.js';
import {
  batchNames,
  draftOf,
  expiryText,
  inputOf,
  newToken,
  problemsOf,
  randomSuffix,
} from '../../web/src/tokens/tokenDraft.js';

const now = 1_790_000_000;
const filled = { ...newToken, name: 'my program' };

const stored: TokenTermsFragment = {
  id: '7',
  name: 'old',
  status: 'ENABLED',
  createdAt: now - 1000,
  accessedAt: null,
  expiresAt: now - 10,
  unlimited: false,
  remainingQuota: -20,
  usedQuota: 20,
  modelLimitsEnabled: true,
  modelLimits: ['gpt-4o'],
  allowIps: ['10.0.0.0/8', '::1'],
  modelAliases: [],
  group: 'vip',
  budget: null,
};

describe('aliases of models in the form', () => {
  const aliases = 'claude-* = gpt-4o\n\n  small=gpt-4o-mini  ';
  const parsed = [
    { name: 'claude-*', model: 'gpt-4o' },
    { name: 'small', model: 'gpt-4o-mini' },
  ];

  test('are written one per line, and shown so', () => {
    expect(inputOf({ ...filled, aliases }, null).modelAliases).toEqual(parsed);
    expect(draftOf({ ...stored, modelAliases: parsed }).aliases).toBe('claude-* = gpt-4o\nsmall = gpt-4o-mini');
    expect(problemsOf({ ...filled, aliases }, null, now)).toEqual({});
  });

  test.each([
    ['without a model', 'small =', 'aliases.invalid'],
    ['without =', 'small', 'aliases.invalid'],
    ['with two wildcards', '*-* = m', 'aliases.invalid'],
    ['with a wildcard in the model', 'small = gpt-*', 'aliases.invalid'],
    ['with a name of 256 bytes', `${'é'.repeat(128)} = m`, 'aliases.invalid'],
    ['with a name twice', 'a = m\na = n', 'aliases.twice'],
    ['with 51 lines', Array.from({ length: 51 }, (_, at) => `a${at} = m`).join('\n'), 'aliases.many'],
  ])('are refused %s', (_what, text, problem) => {
    expect(problemsOf({ ...filled, aliases: text }, null, now)).toEqual({ aliases: problem });
  });
});

describe('a new token in the form', () => {
  test('needs only a name', () => {
    expect(problemsOf(filled, null, now)).toEqual({});
    expect(problemsOf({ ...filled, name: '   ' }, null, now)).toEqual({ name: 'name.missing' });
  });

  test('has a name of at most 30 bytes, of which a Chinese character takes three', () => {
    expect(problemsOf({ ...filled, name: '令'.repeat(10) }, null, now)).toEqual({});
    expect(problemsOf({ ...filled, name: '令'.repeat(11) }, null, now)).toEqual({ name: 'name.long' });
  });

  test('leaves room for a suffix when many are made', () => {
    expect(problemsOf({ ...filled, name: 'x'.repeat(24), count: 10 }, null, now)).toEqual({
      name: 'name.longForMany',
    });
    expect(problemsOf({ ...filled, name: 'x'.repeat(23), count: 10 }, null, now)).toEqual({});
  });

  test('expires later than now, or never', () => {
    expect(problemsOf({ ...filled, expiry: expiryText(now) }, null, now)).toEqual({ expiry: 'expiry.past' });
    expect(problemsOf({ ...filled, expiry: 'tomorrow' }, null, now)).toEqual({ expiry: 'expiry.invalid' });
    expect(problemsOf({ ...filled, expiry: expiryText(now + 1) }, null, now)).toEqual({});
  });

  test('has a quota, unless it is unlimited', () => {
    expect(problemsOf({ ...filled, quota: null }, null, now)).toEqual({ quota: 'quota.missing' });
    expect(problemsOf({ ...filled, quota: -1 }, null, now)).toEqual({ quota: 'quota.negative' });
    expect(problemsOf({ ...filled, quota: null, unlimited: true }, null, now)).toEqual({});
  });

  test('with a budget has a positive amount', () => {
    const budgeted = { ...filled, budgeted: true };
    expect(problemsOf({ ...budgeted, budget: 1 }, null, now)).toEqual({});
    expect(problemsOf({ ...budgeted, budget: null }, null, now)).toEqual({ budget: 'budget.missing' });
    for (const budget of [0, -1, 1e15 + 1])
      expect(problemsOf({ ...budgeted, budget }, null, now)).toEqual({ budget: 'budget.range' });
    expect(problemsOf({ ...budgeted, budgeted: false, budget: null }, null, now)).toEqual({});
  });

  test('limited to models names at least one', () => {
    expect(problemsOf({ ...filled, modelLimitsEnabled: true }, null, now)).toEqual({ models: 'models.none' });
  });

  test('accepts addresses and ranges, one per line', () => {
    expect(problemsOf({ ...filled, allowIps: '10.0.0.1\n\n 2001:db8::/32 ' }, null, now)).toEqual({});
    expect(problemsOf({ ...filled, allowIps: '10.0.0.1\nhome' }, null, now)).toEqual({ ips: 'ips.invalid' });
  });

  test('is created 1 to 100 times', () => {
    for (const count of [0, 101, 1.5, null])
      expect(problemsOf({ ...filled, count }, null, now)).toMatchObject({ count: 'count.invalid' });
  });
});

describe('an edited token', () => {
  test('may keep an expiry in the past and an overdrawn quota', () => {
    expect(problemsOf(draftOf(stored), stored, now)).toEqual({});
  });

  test('sends no unchanged quota, so that charges in the meantime are kept', () => {
    expect(inputOf({ ...draftOf(stored), name: 'new ' }, stored)).toEqual({
      name: 'new',
      expiresAt: now - 10,
      unlimited: false,
      modelLimitsEnabled: true,
      modelLimits: ['gpt-4o'],
      allowIps: ['10.0.0.0/8', '::1'],
      modelAliases: [],
      group: 'vip',
      budget: null,
    });
  });

  test('sends its budget, another one, or none', () => {
    const budget = { quota: 70, period: 'WEEKLY', spent: 5, resetsAt: now + 9 } as const;
    const draft = draftOf({ ...stored, budget });
    expect(inputOf(draft, stored).budget).toEqual({ quota: 70, period: 'WEEKLY' });
    expect(inputOf({ ...draft, budget: 80, period: 'DAILY' }, stored).budget).toEqual({ quota: 80, period: 'DAILY' });
    expect(inputOf({ ...draft, budgeted: false }, stored).budget).toBeNull();
  });

  test('sends a changed quota', () => {
    expect(inputOf({ ...draftOf(stored), quota: 500 }, stored)).toMatchObject({ quota: 500 });
  });
});

describe('several new tokens', () => {
  test('are named as typed, the first, and with a suffix, the others', () => {
    const suffixes = ['aaaaaa', 'bbbbbb'];
    expect(batchNames('bot', 3, () => suffixes.shift() ?? '')).toEqual(['bot', 'bot-aaaaaa', 'bot-bbbbbb']);
  });

  test('get suffixes of six letters and digits', () => {
    expect(randomSuffix()).toMatch(/^[a-z0-9]{6}$/);
  });
});

describe('the expiry of a token', () => {
  test('is the same after a round trip through an input', () => {
    expect(inputOf(draftOf({ ...stored, expiresAt: now }), stored).expiresAt).toBe(now);
    expect(inputOf(draftOf({ ...stored, expiresAt: null }), stored).expiresAt).toBeNull();
  });
});

describe('the allowed addresses of a token', () => {
  test.each(['192.0.2.1', '192.0.2.0/24', '0.0.0.0/0', '::1', '2001:db8::/32', '::ffff:192.0.2.1'])(
    'accept %s',
    (line) => {
      expect(isAddressOrRange(line)).toBe(true);
    },
  );

  test.each([
    '',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.0/33',
    '2001:db8::/129',
    '1.2.3.4/8/8',
    'localhost',
    ':::',
    '10.0.0.1-9',
  ])('refuse %s', (line) => {
    expect(isAddressOrRange(line)).toBe(false);
  });
});
