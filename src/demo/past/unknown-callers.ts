import { newEventId } from '../../application/event-id.js';
import { requestId } from '../../application/request-id.js';
import { type NewEvent, type StreamName, streams } from '../../domain/events/events.js';
import { CallId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { Refusal, RefusalEvent } from '../../domain/kernel/refusal.js';
import type { Random } from '../random.js';
import { dayMs, hourMs } from './hours.js';

/* Callers with keys that nobody has: one now and then, and a flood on two days, which is recorded by the number. */

export interface TurnedAway {
  readonly at: number;
  readonly stream: StreamName;
  readonly events: readonly NewEvent<RefusalEvent>[];
}

const networks = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24'] as const;

const wrongKey = (network: string): Refusal => ({
  ...{ userId: null, apiKeyId: null, apiKeyName: '', group: '', model: '', path: '/v1/chat/completions' },
  ...{ status: 401, code: 'invalid_api_key', network },
});

const newEvent = (at: number, event: RefusalEvent): NewEvent<RefusalEvent> => ({
  id: newEventId(Instant(at)),
  at: Instant(at),
  event,
});

const single = (at: number, network: string): TurnedAway => ({
  at,
  stream: streams.call(CallId(requestId(at))),
  events: [newEvent(at, { type: 'CallRefused', refusal: wrongKey(network) })],
});

/** Hours since the past began in which somebody tries keys, and how many. */
const floods: ReadonlyMap<number, number> = new Map([
  [11 * 24 + 4, 412],
  [24 * 24 + 22, 238],
]);

const maxRecordedOneByOne = 5;

function flood(begin: number, count: number): TurnedAway[] {
  const network = networks[0];
  const singles = Array.from({ length: maxRecordedOneByOne }, (_, index) => single(begin + index * 900, network));
  const at = begin + 58_000;
  const refusal = wrongKey(network);
  const sum = { type: 'CallsRefused', refusal, count: count - maxRecordedOneByOne, since: Instant(begin) } as const;
  return [...singles, { at, stream: streams.refusals(Instant(at)), events: [newEvent(at, sum)] }];
}

/** How many hours have one on average. */
const perHour = 0.12;

/** Those of the hour that begins at `begin`, oldest first. `pastBegan`: unix milliseconds. */
export function unknownCallersOf(begin: number, pastBegan: number, random: Random): TurnedAway[] {
  const many = floods.get(Math.round((begin - pastBegan) / hourMs));
  if (many !== undefined) return flood(begin + 17 * 60_000, many);
  const network = networks[Math.floor((begin / dayMs) % networks.length)] ?? networks[0];
  return random() < perHour ? [single(begin + Math.floor(random() * hourMs), network)] : [];
}
