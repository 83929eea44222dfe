import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { optionTable } from '../../src/domain/options/option-table.js';
import type { SettingOptionFragment } from '../../web/src/generated/settings/settings.js';
import { jsonFault } from '../../web/src/kit/form/jsonFault.js';
import { changesOf, type Drafts, isInitial, problemOf, withDraft } from '../../web/src/settings/drafts.js';
import { memberChanges } from '../../web/src/settings/memberChanges.js';
import { settingTabs } from '../../web/src/settings/sections.js';
import type { SettingName } from '../../web/src/settings/settingName.js';

const fields = Object.values(settingTabs).flatMap((sections) => sections.flatMap((section) => section.fields));

describe('the settings of the console', () => {
  test('have one place for every option, and only one', () => {
    expect(fields.map(({ key }) => key).sort()).toEqual(Object.keys(optionTable).sort());
  });
});

describe('the position of a syntax error in JSON', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test.each([
    ['{"a": 1}', null],
    [' [] ', null],
    ['', { line: 1, column: 1 }],
    ['{', { line: 1, column: 2 }],
    ['{"a" 1}', { line: 1, column: 6 }],
    ['{\n  "a": 1,\n  "b": 2,\n}', { line: 4, column: 1 }],
    ['{"a": 1} x', { line: 1, column: 10 }],
    ['[1, 2', { line: 1, column: 6 }],
    ['[01]', { line: 1, column: 3 }],
    ['{"a": "one\ntwo"}', { line: 1, column: 7 }],
    ["{'a': 1}", { line: 1, column: 2 }],
    ['{"a": tru}', { line: 1, column: 7 }],
    [']', { line: 1, column: 1 }],
    ['[}', { line: 1, column: 2 }],
  ])('is shown by line and column: %j', (text, fault) => expect(jsonFault(text)).toEqual(fault));

  test('exists exactly where a browser rejects the JSON', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', ':', '0', '\n', '\\', 'x'))
      .map(([json, at, mark]) => {
        const index = at % (json.length + 1);
        return json.slice(0, index) + mark + json.slice(index + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, fc.string()), (text) => {
        expect(jsonFault(text) === null).toBe(isJson(text));
      }),
    );
  });

  test('is found at any depth', () => {
    expect(jsonFault('['.repeat(100_000))).toEqual({ line: 1, column: 100_001 });
  });
});

const option = (change: Partial<SettingOptionFragment> = {}): SettingOptionFragment => ({
  ...{ key: 'RetryTimes', value: '0', isSet: true, initial: '0', position: 7, fixed: null, kind: 'INTEGER' },
  ...{ minimum: '0', maximum: '100', longest: 64, lines: false, choices: [], needs: null },
  ...change,
});
const nothing: Drafts = new Map();

describe('a typed value of an option', () => {
  test('is a draft as long as it differs from the stored one, with the version that was read first', () => {
    const first = withDraft(nothing, option(), '3');
    expect([...first]).toEqual([['RetryTimes', { text: '3', seenAt: 7 }]]);
    const later = withDraft(first, option({ value: '1', position: 9 }), '4');
    expect(later.get('RetryTimes')).toEqual({ text: '4', seenAt: 7 });
    expect(withDraft(later, option({ value: '1', position: 9 }), '1').size).toBe(0);
  });

  test('over a secret counts when it is not empty, or the secret is to be removed', () => {
    const secret = option({ key: 'EpayKey', kind: 'SECRET', value: null, initial: '' });
    expect(withDraft(nothing, secret, '').size).toBe(0);
    expect(withDraft(nothing, secret, 'new').get('EpayKey')).toEqual({ text: 'new', seenAt: 7 });
    expect(withDraft(nothing, secret, '', true).get('EpayKey')).toEqual({ text: '', seenAt: 7 });
    expect(isInitial(secret, '')).toBe(false);
    expect(isInitial({ ...secret, isSet: false }, '')).toBe(true);
  });

  test('is compared as displayed: a table on one line equals one on many', () => {
    const table = option({ key: 'GroupRatio', kind: 'RATIOS', value: '{"default":1}', initial: '{"default":1}' });
    expect(withDraft(nothing, table, '{\n  "default": 1\n}').size).toBe(0);
  });

  const holding = (key: SettingName, holds?: 'address' | 'url' | 'domains') => ({ key, holds });
  test.each([
    [option(), holding('RetryTimes'), '101', { what: 'integer', minimum: '0', maximum: '100' }],
    [option(), holding('RetryTimes'), '', { what: 'integer', minimum: '0', maximum: '100' }],
    [option(), holding('RetryTimes'), '0x10', { what: 'integer', minimum: '0', maximum: '100' }],
    [option(), holding('RetryTimes'), ' 5 ', null],
    [option({ kind: 'NUMBER' }), holding('Price'), '7.3', null],
    [option({ kind: 'TEXT' }), holding('ServerAddress', 'address'), 'gate.example', { what: 'address' }],
    [option({ kind: 'TEXT' }), holding('ServerAddress', 'address'), '', null],
    [
      option({ kind: 'TEXT' }),
      holding('EmailDomainWhitelist', 'domains'),
      'a.example, b',
      { what: 'domain', domain: 'b' },
    ],
    [
      option({ kind: 'TEXT' }),
      holding('EmailDomainWhitelist', 'domains'),
      'a.example,A.example',
      { what: 'domainTwice', domain: 'a.example' },
    ],
    [option({ kind: 'RATIOS' }), holding('ModelRatio'), '{', { what: 'json', line: 1, column: 2 }],
  ])('is validated before it is sent: %#', (given, field, text, problem) =>
    expect(problemOf(given, field, text)).toEqual(problem),
  );

  test('is sent without unchanged ones, switches after their requirements, addresses without a slash at the end', () => {
    const on = option({ key: 'WeChatAuthEnabled', kind: 'BOOLEAN', value: 'false' });
    const address = option({ key: 'WeChatServerAddress', kind: 'TEXT', value: '' });
    const endpoint = option({ key: 'oidc.token_endpoint', kind: 'TEXT', value: '' });
    const drafts = withDraft(
      withDraft(withDraft(nothing, on, 'true'), address, ' https://wechat.example// '),
      endpoint,
      ' https://id.example/token/ ',
    );
    const sent = changesOf(
      [
        [holding('WeChatAuthEnabled'), on],
        [holding('WeChatServerAddress', 'address'), address],
        [holding('oidc.token_endpoint', 'url'), endpoint],
        [holding('RetryTimes'), option()],
      ],
      drafts,
    );
    expect(sent).toEqual([
      { key: 'WeChatServerAddress', value: 'https://wechat.example', seenAt: 7 },
      { key: 'oidc.token_endpoint', value: 'https://id.example/token/', seenAt: 7 },
      { key: 'WeChatAuthEnabled', value: 'true', seenAt: 7 },
    ]);
  });
});

describe('the differences between two tables', () => {
  test('are listed member by member', () => {
    expect(memberChanges('{"a":1,"b":2,"c":3}', '{"a":1,"b":2.5,"d":4}')).toEqual([
      { name: 'b', from: '2', to: '2.5' },
      { name: 'c', from: '3', to: null },
      { name: 'd', from: null, to: '4' },
    ]);
    expect(memberChanges('{}', '{"__proto__":1,"constructor":2}')).toHaveLength(2);
  });
  test('are omitted for a value that is not a table', () => {
    for (const text of ['', 'hello', '[1]', '3', 'null']) expect(memberChanges('{}', text)).toBeNull();
  });
});
