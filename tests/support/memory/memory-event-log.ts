import type { EventLogEngine, WriterClaim } from '../../../src/adapters/event-log/event-log-engine.js';
import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { MemoryEventStore } from './memory-event-store.js';

const reason = 'Another writer has claimed this log.';

/** An engine of the log in memory, whose positions lie any distance apart: each append is checked against the claim. */
export class MemoryEventLog implements EventLogEngine {
  private claims = 0;
  /** Nobody gets an answer, and nothing is written. */
  away = false;

  constructor(
    readonly name = 'a log in memory',
    readonly store = new MemoryEventStore(),
  ) {}

  async identity(): Promise<string> {
    return this.name;
  }

  async claimWriter(onLost: (reason: string) => void): Promise<WriterClaim> {
    const claim = ++this.claims;
    let notified = false;
    const { store } = this;
    const append: EventStore['append'] = async (...asked) => {
      if (this.away) throw new Failure('store-unavailable', { reason: 'away' });
      if (claim === this.claims) return store.append(...asked);
      if (!notified) onLost(reason);
      notified = true;
      throw new Failure('store-busy', { reason });
    };
    // Everything else is the log's own; closing it here does not end it for others.
    const open = async (): Promise<EventStore> =>
      Object.assign(Object.create(store) as EventStore, { append, close: async () => {} });
    return { head: await store.head(), open };
  }
}
