import { type Position, type StreamName, streamKey } from '../../../src/domain/events/events.js';
import { PaymentId } from '../../../src/domain/kernel/ids.js';
import { unixSeconds } from '../../../src/domain/kernel/instant.js';
import type { TestStore } from '../memory/memory-node.js';

interface OpenOrder {
  readonly id: PaymentId;
  readonly created_at: number;
  readonly position: Position;
}

/** Orders that nobody has paid, as the read model lists them. */
export const openOrders =
  (store: Pick<TestStore, 'everything'>) =>
  async (after: Position, max: number): Promise<readonly OpenOrder[]> => {
    const rows = new Map<StreamName, OpenOrder>();
    for (const { stream, event, at, position } of await store.everything()) {
      if (event.type === 'TopUpRequested')
        rows.set(stream, { id: PaymentId(streamKey(stream)), created_at: unixSeconds(at), position });
      if (event.type === 'TopUpCompleted' || event.type === 'TopUpExpired') rows.delete(stream);
    }
    return [...rows.values()].filter(({ position }) => position > after).slice(0, max);
  };
