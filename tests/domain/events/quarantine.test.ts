import { describe, expect, test } from 'vitest';
import { Position } from '../../../src/domain/events/events.js';
import {
  books,
  type QuarantineCommand,
  type QuarantineEvent,
  quarantineDecider,
} from '../../../src/domain/events/quarantine.js';
import { UserId } from '../../../src/domain/kernel/ids.js';

const seven = Position(7);
const order: QuarantineCommand = {
  type: 'QuarantineEvent',
  model: 'channels',
  version: 2,
  position: seven,
  stoppedAt: seven,
  reason: 'a type that no column holds',
  by: UserId(1),
};
const done: QuarantineEvent = {
  type: 'EventQuarantined',
  model: 'channels',
  version: 2,
  position: seven,
  reason: 'a type that no column holds',
  by: UserId(1),
};
const decide = (change: Partial<QuarantineCommand> = {}, ...past: readonly QuarantineEvent[]) =>
  quarantineDecider.decide(
    { ...order, ...change },
    past.reduce((quarantine, event) => quarantineDecider.evolve(quarantine, event), quarantineDecider.initial),
  );

describe('quarantining an event', () => {
  test('records the event, the version of the read model, the reason and the user', () =>
    expect(decide()).toEqual([done]));

  test('a second time changes nothing, also when the read model has continued', () => {
    expect(decide({}, done)).toEqual([]);
    expect(decide({ stoppedAt: null }, done)).toEqual([]);
  });

  test.each([
    ['can fold it', null],
    ['is stopped at another one', Position(9)],
  ])('is refused where the read model %s', (_, stoppedAt) =>
    expect(() => decide({ stoppedAt })).toThrow('read-model-not-stopped-there'),
  );

  test('is decided again for each version of a read model', () =>
    expect(decide({ version: 3 }, done)).toEqual([{ ...done, version: 3 }]));

  test.each(books)('is refused for the %s: its accounts would permanently lack the event', (model) =>
    expect(() => decide({ model })).toThrow('books-stay-whole'),
  );

  test.each(['x'.repeat(501), 'NUL \0'])('is refused for an invalid reason', (reason) =>
    expect(() => decide({ reason })).toThrow('invalid-field'),
  );
});
