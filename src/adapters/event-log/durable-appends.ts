import type { DurableEventStore, EventStore } from '../../application/ports/storage-ports.js';

/** For an engine without a journal: what is durable is committed, so an append is answered when both are so. */
export const withDurableAppends = (store: EventStore): DurableEventStore =>
  Object.assign(store, {
    async appendDurable(...[stream, event, expected, onCommitted]: Parameters<DurableEventStore['appendDurable']>) {
      const result = await store.append(stream, [event], expected);
      if (!result.ok) return result;
      onCommitted?.(result.position);
      return { ok: true } as const;
    },
  });
