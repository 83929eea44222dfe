import { describe, test } from 'vitest';
import { usageLogDecider } from '../../../src/domain/call/usage-log.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(usageLogDecider);
const by = UserId(1);
const now = Instant(1_767_323_045_000);
const day = 86_400_000;
const yesterday = Instant(now - day);
const cleared = (before: Instant) => ({ type: 'LogsCleared', before, by }) as const;
const clear = (before: Instant, lines = 5) => ({ type: 'ClearUsageLog', before, now, lines, by }) as const;

describe('clearing the usage log', () => {
  test('is one event, also when the command is repeated', () =>
    given().when(clear(yesterday)).thenRecordedOnce(cleared(yesterday)));
  test('reaches up to the present', () => given().when(clear(now)).thenRecorded(cleared(now)));
  test('is refused for a time in the future', () =>
    given()
      .when(clear(Instant(now + 1_000)))
      .thenRefused('invalid-field', { field: 'before', allowed: 'a time in the past' }));
  test('records nothing where there is nothing to be cleared', () => given().when(clear(yesterday, 0)).thenNothing());
  test('never restores what has been cleared', () =>
    given(cleared(yesterday))
      .when(clear(Instant(yesterday - day)))
      .thenNothing());
  test('continues from its previous state', () => {
    given(cleared(yesterday)).when(clear(now)).thenRecorded(cleared(now));
    given(cleared(yesterday), cleared(now)).thenState({ clearedBefore: now });
  });
});
