import { expect, test } from 'vitest';
import { streams } from '../../src/domain/events/events.js';
import { SecretId } from '../../src/domain/kernel/ids.js';
import { allOptions, optionValue, pinnedNames } from '../../src/projections/models/options.js';
import { at, option } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

test('an option has the value it was last set to', async () => {
  const db = await projected.given(option('RetryTimes', '3'), option('Notice', ''), option('RetryTimes', '5'));
  expect(await allOptions(db)).toEqual([
    { key: 'Notice', text: '', secret: null, pinned: null, position: 1 },
    { key: 'RetryTimes', text: '5', secret: null, pinned: null, position: 2 },
  ]);
});

test('a secret option has a reference to its value, and not the value', async () => {
  const value = { secret: SecretId('smtp') };
  const changed = { type: 'OptionChanged', key: 'SMTPToken', value } as const;
  const db = await projected.given(option('SMTPToken', 'plain'), { stream: streams.options, event: changed, at: at() });
  const [row] = await allOptions(db);
  expect(row).toMatchObject({ text: null, secret: 'smtp' });
  expect(row && optionValue(row)).toEqual(value);
});

test('a map of prices has the names that do not follow built-in prices; one of an earlier release pins all', async () => {
  const changed = (pinned: object) => ({
    ...{ stream: streams.options, at: at() },
    event: { type: 'OptionChanged', key: 'ModelRatio', value: { text: '{"one":1,"two":2}' }, ...pinned } as const,
  });
  const [pinning] = await allOptions(await projected.given(changed({ pinned: ['two'] })));
  expect(pinning && pinnedNames(pinning)).toEqual(['two']);
  const [earlier] = await allOptions(await projected.given(changed({})));
  expect(earlier && pinnedNames(earlier)).toBeUndefined();
});

test('an unchanged option has no row', async () => {
  expect(await allOptions(await projected.given())).toEqual([]);
});
