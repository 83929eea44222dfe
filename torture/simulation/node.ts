import { handle } from '../../src/application/handle.js';
import { openQuotaGate } from '../../src/application/memory/quota-gate.js';
import { followTail, type Tail } from '../../src/application/memory/tail.js';
import type { Clock, ReactionCheckpoints } from '../../src/application/ports/storage-ports.js';
import { runRecovery } from '../../src/application/reactions/recovery.js';
import { type Reaction, runReactions } from '../../src/application/reactions/run-reactions.js';
import { beginning, type Position } from '../../src/domain/events/events.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { inFlightCalls } from '../../src/relay/metering/in-flight-calls.js';
import { type Meter, openMeter } from '../../src/relay/metering/metered.js';
import type { SimulatedLedger } from './simulated-ledger.js';
import type { SimulatedNotes } from './simulated-notes.js';
import { type SimulatedLog, SimulatedStore } from './simulated-store.js';

/* One process: the gate, the meter, the tail, recovery, the projector and the reactions as the product has them. */

/** What outlives processes. */
export interface Durable {
  readonly log: SimulatedLog;
  readonly ledger: SimulatedLedger;
  readonly notes: SimulatedNotes;
  readonly checkpoints: Map<string, Position>;
  /** The settlements that a message is about. One that comes again is the same message, as in the product's queue. */
  readonly outbox: Set<string>;
  readonly newEventId: (at: Instant) => string;
}

export interface SimulatedNode {
  readonly owner: symbol;
  readonly dead: boolean;
  readonly meter: Meter;
  readonly gate: ReturnType<typeof openQuotaGate>;
  readonly tail: Tail;
  /** Whether a call is served or about to have its outcome. */
  isInFlight(callId: Parameters<ReturnType<typeof inFlightCalls>['has']>[0]): boolean;
  kill(): Promise<void>;
}

/** Small, so that accounts are dropped and read again. */
const capacity = 2;
const recoveryEveryMs = 2_000;
const reactionsEveryMs = 500;

/** Each settlement gets one message, by the event it is about. */
const messages = ({ outbox }: Durable, store: SimulatedStore): Reaction => ({
  name: 'messages',
  asks: ({ event, stream }) => (event.type === 'CallSettled' ? stream : null),
  async react(stream) {
    for (const { id, event } of await store.readStream(stream)) if (event.type === 'CallSettled') outbox.add(id);
  },
});

/** Resolves once it serves; never, where it has died before. */
export async function startNode(durable: Durable): Promise<SimulatedNode> {
  const { log, ledger, notes: allNotes, checkpoints: places, newEventId } = durable;
  const { scheduler } = log;
  const owner = Symbol('process');
  const epoch = ++log.epoch;
  const store = new SimulatedStore(log, owner, epoch);
  const clock: Clock = { now: () => Instant(scheduler.now()) };
  const progress = ledger.progressFor(owner);
  void ledger.project(owner);
  const began = await store.head();
  const notes = allNotes.openFor(owner);
  while (!(await progress.reached(began, 0))) await scheduler.turn(owner);
  for (;;)
    try {
      await notes.begin(began);
      break;
    } catch {
      // As an operator's supervisor does, it tries again.
    }
  const gate = log.witness.watch(openQuotaGate(ledger.sourceFor(owner), { capacity, after: began, clock }));
  log.witness.reached(began);
  const tail = followTail(store, began, [gate, log.witness]);
  const inFlight = inFlightCalls();
  const meter = openMeter({ store, gate, clock, inFlight, newEventId, warn: () => {} });
  inFlight.startNoting(notes, () => {});
  const checkpoints: ReactionCheckpoints = {
    of: async (name) => places.get(name) ?? beginning,
    async keep(name, position) {
      await scheduler.turn(owner);
      if (position > (places.get(name) ?? beginning)) places.set(name, position);
    },
  };
  await runReactions({ store, tail, checkpoints }, [messages(durable, store)], {
    everyMs: reactionsEveryMs,
    failed: () => {},
  });
  const recovering = {
    openCalls: ledger.openCalls.bind(ledger, owner),
    handle: handle(store, clock),
    ...{ clock, gate, notes, tasks: { byCalls: async () => [] }, isInFlight: inFlight.has },
  };
  void runRecovery(recovering, {
    ...{ progress, began, position: () => tail.position(), everyMs: recoveryEveryMs },
    ...{ recovered: () => {}, failed: () => {}, behind: () => {} },
  });
  let dead = false;
  return {
    owner,
    get dead() {
      return dead;
    },
    ...{ meter, gate, tail, isInFlight: inFlight.has },
    async kill() {
      dead = true;
      scheduler.kill(owner);
      await store.die();
    },
  };
}
