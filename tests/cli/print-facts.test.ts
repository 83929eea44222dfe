import { expect, test } from 'vitest';
import { factLines, factsAsJson } from '../../src/cli/audit/print-facts.js';
import { Position } from '../../src/domain/events/events.js';
import { someInstant } from '../support/given/events.js';

test('facts are shown in a line each, a place in the log with its time, and sums of any size as JSON', () => {
  const since = { position: Position(11), at: someInstant };
  expect(factLines({ status: 'enabled', balance: null, since, settings: { retries: 2 } }).split('\n')).toEqual([
    'status: enabled',
    'balance: —',
    `since: event 11 at ${new Date(someInstant).toISOString()}`,
    'settings: {"retries":2}',
  ]);
  expect(factsAsJson({ earned: 2n ** 70n, since })).toBe(
    `{"earned":"1180591620717411303424","since":{"position":11,"at":${someInstant}}}`,
  );
});
