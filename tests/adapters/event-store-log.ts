import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { beginning, type Recorded } from '../../src/domain/events/events.js';

/* What tests of event stores ask of what they read. */

export const ids = (events: readonly Recorded[]): string[] => events.map(({ id }) => id);
export const positions = (events: readonly Recorded[]): number[] => events.map(({ position }) => Number(position));
export const ascending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? Number.POSITIVE_INFINITY));

/** A moment that one side waits for and the other brings about. */
export function signalled() {
  let signal: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    signal = resolve;
  });
  return { signal, signalled: reached };
}

export async function readWholeLog(store: EventStore): Promise<Recorded[]> {
  const log: Recorded[] = [];
  for (;;) {
    const page = await store.readAll(log.at(-1)?.position ?? beginning, 100);
    if (page.length === 0) return log;
    log.push(...page);
  }
}

/** Appends that must succeed; the position of the last event. */
export async function appended(store: EventStore, ...[stream, events, expected]: Parameters<EventStore['append']>) {
  const result = await store.append(stream, events, expected);
  if (!result.ok) throw new Error(`Conflict: ${stream} is at ${result.conflict.actual}`);
  return result.position;
}
