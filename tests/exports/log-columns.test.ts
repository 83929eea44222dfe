import { expect, test } from 'vitest';
import { TimeZone } from '../../src/application/calendar.js';
import { logColumns } from '../../src/exports/log-file.js';
import { usageLogBefore } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { alice, bob, granted, registered, rewarded } from '../projections/history.js';
import { forEachTest, type Projected } from '../projections/projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

test('a reward for inviting changes no balance before it is transferred', async () => {
  const db = await projected.given(registered(alice, 'alice'), granted(alice, 500), rewarded(alice, 300, bob));
  const asked = { filter: {}, everyone: false, zone: TimeZone.named('zone', 'UTC') };
  const change = logColumns(asked, String).find(({ name }) => name === 'balance change');
  const lines = await usageLogBefore(db, {}, { limit: 10 });
  expect(lines.map((line) => change?.cell(line))).toEqual([null, 500]);
});
