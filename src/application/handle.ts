import {
  beginning,
  type DomainEvent,
  type NewEvent,
  type Position,
  type Recorded,
  type Revision,
  type StreamName,
} from '../domain/events/events.js';
import type { OrderOrigin } from '../domain/events/order-origin.js';
import type { Decider } from '../domain/kernel/decider.js';
import { Failure, isUnavailable } from '../domain/kernel/failure.js';
import type { Actor } from '../domain/user/user.js';
import { newEventId } from './event-id.js';
import type { IdempotencyMark } from './idempotency.js';
import type { AppendResult, Clock, EventStore, PersonalData } from './ports/storage-ports.js';
import { type Folded, RecentFolds } from './recent-folds.js';

/* Load, decide, append, retry on conflict: written once. */

/** What a command led to. `position` is how far a reader must have come to see it; -1 when nothing happened. */
export interface Handled<Event> {
  readonly events: readonly Event[];
  readonly position: Position;
}

/**
 * A command that depends on something outside its stream. It is made anew for every state it is decided on; `seen` is
 * the stream's last position then, and what is observed must be at least that new.
 */
export type Observing<Command> = (seen: Position) => Promise<Command>;

const isObserving = <Command>(order: Command | Observing<Command>): order is Observing<Command> =>
  typeof order === 'function';

const attempts = 20;

/**
 * What a marked order that the stream knows already has led to; null: it does not know it. Throws
 * `idempotency-key-reused` when the order of that name asked for something else.
 */
export function repeated<Event extends DomainEvent>(
  recorded: readonly Recorded[],
  mark: IdempotencyMark,
): Handled<Event> | null {
  const done = recorded.filter(({ id }) => mark.isOf(id));
  const [first] = done;
  if (first === undefined) return null;
  if (first.id !== mark.eventId(0)) throw new Failure('idempotency-key-reused', { key: mark.key });
  return { events: done.map(({ event }) => event as Event), position: done.at(-1)?.position ?? first.position };
}

/** What is written beside the events of an administrator's order. Of what users do to their own nothing is. */
async function originOf(
  personal: Pick<PersonalData, 'seal'> | null,
  { id: by, role, askedFrom }: Actor,
): Promise<{ readonly ordered?: OrderOrigin }> {
  if (role === 'ordinary') return {};
  if (askedFrom === undefined || personal === null)
    return { ordered: { by, face: null, credential: null, address: null } };
  const { face, credential, address } = askedFrom;
  return { ordered: { by, face, credential, address: await personal.seal(by, address) } };
}

/** Runs a command, in somebody's name or in nobody's. */
export type Run = <State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  stream: StreamName,
  order: NoInfer<Command | Observing<Command>>,
  mark?: IdempotencyMark | null,
) => Promise<Handled<Event>>;

export interface Handle extends Run {
  /** The same in somebody's name: of an administrator's order it is written down who gave it, and from where. */
  readonly by: (actor: Actor) => Run;
}

/**
 * Runs one command on the newest state of its stream; a lost race is decided anew; a marked order that the stream knows
 * answers with what it led to. Throws the decider's Failure, `lost-race`, `store-unavailable`, or `outcome-unknown` for a
 * marked order, which may then be given again. `personal`: seals from where orders came; null: that is left out.
 */
export function handle(
  store: EventStore,
  clock: Clock,
  recent = new RecentFolds(store),
  personal: Pick<PersonalData, 'seal'> | null = null,
): Handle {
  const inNameOf =
    (actor: Actor | null): Run =>
    async <State, Command, Event extends DomainEvent>(
      decider: Decider<State, Command, Event>,
      stream: StreamName,
      order: NoInfer<Command | Observing<Command>>,
      mark: IdempotencyMark | null = null,
    ): Promise<Handled<Event>> => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const { state, last, marked } = await recent.fold(decider, stream);
        // As of the fold: a rival with the same mark that comes later is met by the append.
        const first = mark === null ? undefined : marked.get(mark.name);
        const before =
          mark === null || first === undefined
            ? null
            : repeated<Event>(await markedFrom(store, stream, mark, first), mark);
        if (before !== null) return before;
        const seen = last?.position ?? beginning;
        const decided = decider.decide(isObserving(order) ? await order(seen) : order, state);
        if (decided.length === 0) return { events: [], position: seen };
        const beside = actor === null ? {} : await originOf(personal, actor);
        const at = clock.now();
        const events = decided.map((event, index) => ({
          ...{ id: mark?.eventId(index) ?? newEventId(at), at, event },
          ...beside,
        }));
        const result = await appended(store, stream, { events, before: last, mark });
        // A rival with the same mark may have been first: what counts is what the stream says.
        if (result.ok && mark !== null)
          return repeated(await readAfter(store, stream, last), mark) ?? { events: decided, position: result.position };
        if (result.ok) return { events: decided, position: result.position };
      }
      throw new Failure('lost-race');
    };
  return Object.assign(inNameOf(null), { by: inNameOf });
}

/** The events that were appended under a mark, of which the first has the revision `first`: they stand together. */
export async function markedFrom(
  store: Pick<EventStore, 'streamPages'>,
  stream: StreamName,
  mark: IdempotencyMark,
  first: Revision,
): Promise<readonly Recorded[]> {
  const events: Recorded[] = [];
  for await (const page of store.streamPages(stream, first - 1))
    for (const recorded of page) {
      if (!mark.isOf(recorded.id)) return events;
      events.push(recorded);
    }
  return events;
}

/** What has come since the stream was folded. */
async function readAfter(
  store: EventStore,
  stream: StreamName,
  last: Folded<unknown>['last'],
): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = [];
  for await (const page of store.streamPages(stream, last?.revision)) recorded.push(...page);
  return recorded;
}

interface AppendRequest {
  readonly events: readonly NewEvent[];
  /** The stream's last event as the events were decided on; null: there was none. */
  readonly before: Folded<unknown>['last'];
  readonly mark: IdempotencyMark | null;
}

/** An append whose answer was lost may have happened: the stream knows, if it can be read. */
async function appended(
  store: EventStore,
  stream: StreamName,
  { events, before, mark }: AppendRequest,
): Promise<AppendResult> {
  try {
    return await store.append(stream, events, before?.revision ?? 'no-stream');
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const last = events.at(-1);
    const recorded = await readAfter(store, stream, before).catch(() => []);
    const found = recorded.find(({ id }) => id === last?.id);
    if (found !== undefined) return { ok: true, revision: found.revision, position: found.position };
    throw mark === null ? error : new Failure('outcome-unknown', { key: mark.key });
  }
}
