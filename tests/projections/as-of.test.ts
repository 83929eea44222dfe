import fc from 'fast-check';
import { expect, test } from 'vitest';
import { settingsAt } from '../../src/application/audit/settings-at.js';
import { Position } from '../../src/domain/events/events.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { at, changedBy, root, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

/* What the audit shows of the past is what a fold up to there makes of the log. */

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
}, 'emptied');

const initial = new Map([
  ['Notice', ''],
  ['RetryTimes', '0'],
  ['SMTPToken', ''],
]);
const changes = fc.array(
  fc.record({ key: fc.constantFrom(...initial.keys()), text: fc.constantFrom('', '1', '2'), wait: fc.nat(2) }),
  { minLength: 30, maxLength: 30 },
);

test('settings at a position or an instant are what a fold of the changes up to there has set', async () => {
  const made = fc.sample(changes, { numRuns: 1, seed: 7 })[0] ?? [];
  let now = 0;
  const facts = made.map(({ key, text, wait }) => {
    now += wait;
    return when(at(now), changedBy(root, key, { text }));
  });
  const db = await projected.given(...facts);
  const recorded = await projected.store.readAll(Position(-1), 100);
  const told = async (moment: Parameters<typeof settingsAt>[1]) =>
    Object.fromEntries((await settingsAt(db, moment, initial)).map(({ key, value, isSet }) => [key, value ?? isSet]));
  const fold = (isBefore: (event: (typeof recorded)[number]) => boolean) => {
    const values = new Map(initial);
    for (const event of recorded.filter(isBefore))
      if (event.event.type === 'OptionChanged' && 'text' in event.event.value)
        values.set(event.event.key, event.event.value.text);
    return { ...Object.fromEntries(values), SMTPToken: values.get('SMTPToken') !== '' };
  };

  for (const { position } of recorded)
    expect(await told({ position })).toEqual(fold((event) => event.position <= position));
  for (let second = -1; second <= now; second++) {
    const instant = Instant(at(second));
    expect(await told({ at: instant })).toEqual(fold((event) => event.at <= instant));
  }
});
