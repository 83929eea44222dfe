import { expect, test } from 'vitest';
import { Position, streams } from '../../src/domain/events/events.js';
import { books } from '../../src/domain/events/quarantine.js';
import { quarantinedFor } from '../../src/projections/engine/quarantine.js';
import { readModels } from '../../src/projections/read-models.js';
import { MemoryEventStore } from '../support/memory/memory-event-store.js';
import { option, root, toRecord } from './history.js';

test('what is quarantined is left out of its read model, and of no books, whatever an older release has recorded', async () => {
  const store = new MemoryEventStore();
  const position = Position(7);
  for (const { name: model, version } of readModels) {
    const event = { type: 'EventQuarantined', model, version, position, reason: 'earlier', by: root } as const;
    await store.append(streams.quarantine, [toRecord({ ...option('-', '-'), event })], 'any');
  }
  const whole: string[] = [];
  for (const model of readModels) if (!(await quarantinedFor(store, model)).has(position)) whole.push(model.name);
  expect(whole.toSorted()).toEqual([...books].toSorted());
});
