import type { CallProgressNotes } from '../../src/application/ports/storage-ports.js';
import type { CallProgress, LastSeen } from '../../src/domain/call/call-progress.js';
import type { Position } from '../../src/domain/events/events.js';
import type { CallId } from '../../src/domain/kernel/ids.js';
import type { SimulatedLog } from './simulated-store.js';

/* Notes on calls in flight, which outlive the process that made them. Each statement happens whole or not at all. */

interface NotingNode {
  readonly owner: symbol;
  readonly beganAfter: Position;
  notedTo: Position;
}

export class SimulatedNotes {
  private nodes: NotingNode[] = [];
  private readonly calls = new Map<CallId, { readonly owner: symbol; readonly progress: CallProgress }>();

  constructor(private readonly log: SimulatedLog) {}

  openFor(owner: symbol): CallProgressNotes {
    const { calls } = this;
    const statement = async <Result>(work: () => Result): Promise<Result> => {
      const { scheduler } = this.log;
      await scheduler.turn(owner);
      if (this.log.faulty && scheduler.chance(0.05)) throw new Error('the notes cannot be reached');
      const result = work();
      await scheduler.turn(owner);
      return result;
    };
    return {
      begin: (after) => statement(() => void this.nodes.push({ owner, beganAfter: after, notedTo: after })),
      note: (notedTo, progressed, ended) =>
        statement(() => {
          for (const callId of ended) calls.delete(callId);
          for (const { callId, progress } of progressed) calls.set(callId, { owner, progress });
          const own = this.nodes.find((node) => node.owner === owner);
          if (own !== undefined) own.notedTo = notedTo;
        }),
      lastSeen: (asked) =>
        statement(() => {
          const newestFirst = [...this.nodes].reverse();
          return new Map(
            asked.map(({ callId, position }): [CallId, LastSeen] => {
              const noted = calls.get(callId);
              if (noted !== undefined) return [callId, { kind: 'sent', progress: noted.progress }];
              const node = newestFirst.find(({ beganAfter }) => beganAfter < position);
              const isNoted = node !== undefined && position <= node.notedTo;
              return [callId, { kind: isNoted ? 'not-sent' : 'unknown' }];
            }),
          );
        }),
      forget: (ended) =>
        statement(() => {
          for (const callId of ended) calls.delete(callId);
        }),
      forgetOthers: () =>
        statement(() => {
          for (const [callId, noted] of calls) if (noted.owner !== owner) calls.delete(callId);
          this.nodes = this.nodes.filter((node) => node.owner === owner);
        }),
    };
  }
}
