import { describe, expect, test } from 'vitest';
import { channelFileOf, channelsInFile, maxFileBytes } from '../../../src/domain/channel/channel-file.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { testProviders } from '../../support/given/providers.js';
import { refusal } from '../../support/refusal.js';

const read = (text: string) => channelsInFile(text, testProviders);
const fileOf = (...channels: readonly unknown[]) =>
  JSON.stringify({ format: 'tallygate-channels', version: 1, channels });
const faultsIn = (...channels: readonly unknown[]) => read(fileOf(...channels)).faults;
const bare = { name: 'east', type: 1 };

describe('a file of channels', () => {
  test('is read as it was written, and contains nothing but the given members', () => {
    const channels = [
      channelSettings({ name: 'east', tag: 'a', modelMapping: '{"a":"b"}', models: ['a', '模型'] }),
      channelSettings({ name: 'west', autoBan: false, priority: -3 }),
    ];
    const text = channelFileOf(channels);
    expect(read(text)).toEqual({ channels, faults: [] });
    expect(Object.keys(JSON.parse(text).channels[0]).sort()).toEqual(Object.keys(channels[0] ?? {}).sort());
  });

  test('may omit defaults', () =>
    expect(read(fileOf(bare)).channels).toMatchObject([{ ...bare, groups: ['default'], autoBan: true, tag: null }]));

  test('is not written beyond the size limit of a file', () => {
    expect(() => channelFileOf(new Array(1001).fill(channelSettings({})))).toThrow('invalid-field');
    const large = channelSettings({ paramOverride: JSON.stringify({ a: 'x'.repeat(60_000) }) });
    expect(() => channelFileOf(new Array(10).fill(large))).toThrow('invalid-field');
  });
});

describe('an error in a file of channels', () => {
  test.each([
    ['no', 'file'],
    ['[]', 'file'],
    [' '.repeat(maxFileBytes + 1), 'file'],
    ['{}', 'file.format'],
    ['{"format":"tallygate-channels","version":2}', 'file.version'],
    [fileOf(), 'file.channels'],
    [fileOf(...new Array(1001).fill(bare)), 'file.channels'],
  ])('is reported for the whole file: %.60s', (text, field) =>
    expect(() => read(text)).toThrow(refusal('invalid-field', { field, allowed: expect.any(String) as string })),
  );

  test('is reported by channel and field, all errors together, and nothing is imported', () => {
    const wrong = [
      { ...bare, weight: '1', key: 'sk-1' },
      bare,
      { ...bare, baseUrl: 'ftp://x' },
      { type: 999, name: 'x' },
    ];
    expect(read(fileOf(...wrong, 7, { type: 1 }))).toEqual({
      channels: [],
      faults: [
        { row: 1, field: 'key', allowed: expect.stringContaining('one of name, type') },
        { row: 1, field: 'weight', allowed: 'a whole number' },
        { row: 3, field: 'baseUrl', allowed: 'an http:// or https:// address' },
        { row: 4, field: 'type', allowed: 'channel-type-unknown' },
        { row: 5, field: 'channels', allowed: 'a channel as an object' },
        { row: 6, field: 'name', allowed: 'a name' },
      ],
    });
  });

  test.each([
    ['models', 'gpt-4o'],
    ['models', [1]],
    ['tag', 5],
    ['autoBan', 1],
    ['type', 1.5],
    ['name', null],
  ])('is a %s of the wrong type: %j', (field, value) =>
    expect(faultsIn({ ...bare, [field]: value })).toMatchObject([{ row: 1, field }]),
  );

  test('is reported for a hundred positions at most, and inherited names are not treated as members', () => {
    expect(faultsIn(...new Array(200).fill({}))).toHaveLength(100);
    expect(
      read('{"format":"tallygate-channels","version":1,"channels":[{"__proto__":{},"name":"a","type":1}]}'),
    ).toEqual({ channels: [], faults: [{ row: 1, field: '__proto__', allowed: expect.any(String) }] });
  });
});
