import { describe, expect, test } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import { SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { optionChangeAt, optionChanges } from '../../src/projections/models/option-history.js';
import { changedBy, option } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const root = UserId(1);
const all = { key: null, before: null, max: 10 };

describe('the history of options', () => {
  test('lists who changed which option from and to which value, newest first', async () => {
    const db = await projected.given(
      option('RetryTimes', '1'),
      changedBy(root, 'Notice', { text: 'hello' }),
      changedBy(root, 'RetryTimes', { text: '2' }),
    );
    const shown = await optionChanges(db, all, 100);
    expect(shown).toMatchObject([
      { position: 2, key: 'RetryTimes', by_user: 1, text_before: '1', text: '2', position_before: 0, is_cut: false },
      { position: 1, key: 'Notice', by_user: 1, text_before: null, text: 'hello', position_before: null },
      { position: 0, key: 'RetryTimes', by_user: null, text_before: null, text: '1', position_before: null },
    ]);
  });

  test('is filtered by option, and continues where a page ended', async () => {
    const db = await projected.given(
      ...['1', '2', '3'].flatMap((text) => [option('RetryTimes', text), option('Notice', text)]),
    );
    const page = { key: 'RetryTimes', before: null, max: 2 };
    expect((await optionChanges(db, page, 100)).map(({ text }) => text)).toEqual(['3', '2']);
    const rest = await optionChanges(db, { ...page, before: Position(2) }, 100);
    expect(rest.map(({ position, text_before, text }) => [position, text_before, text])).toEqual([[0, null, '1']]);
  });

  test('never contains a secret, not even one recorded by an earlier release', async () => {
    const secret = { secret: SecretId('smtp') };
    const db = await projected.given(
      option('SMTPToken', 'planted in the clear'),
      changedBy(root, 'SMTPToken', secret),
      changedBy(root, 'SMTPToken', { text: '' }),
    );
    const shown = await optionChanges(db, all, 100);
    expect(shown.map(({ text_before, text }) => [text_before, text])).toEqual([
      [null, ''],
      [null, null],
      [null, null],
    ]);
    const dumped = await projected.dump('option_history_v2');
    expect(dumped.option_change).toHaveLength(3);
    expect(JSON.stringify(dumped)).not.toContain('planted');
  });

  test('cuts long texts in a list and returns a single one whole', async () => {
    const long = 'é'.repeat(2_000);
    const db = await projected.given(option('About', long), option('About', 'short'), option('About', 'shorter'));
    const shown = await optionChanges(db, all, 10);
    expect(shown.map(({ is_cut }) => is_cut)).toEqual([false, true, true]);
    expect(shown[1]).toMatchObject({ text_before: 'é'.repeat(10), text: 'short' });
    expect(await optionChangeAt(db, Position(1), 5_000)).toMatchObject({ text_before: long, is_cut: false });
    expect(await optionChangeAt(db, Position(7), 10)).toBeUndefined();
  });
});
