import { createHash, randomUUID } from 'node:crypto';
import type { StreamName } from '../domain/events/events.js';
import { Failure, invalidField } from '../domain/kernel/failure.js';
import type { UserId } from '../domain/kernel/ids.js';
import { Instant } from '../domain/kernel/instant.js';
import type { Clock, PendingIdempotencyKey, PendingIdempotencyKeys } from './ports/storage-ports.js';

/*
 * Orders that move money are safe to repeat. The client names its order with an idempotency key; the ids of the events
 * it leads to are made from that name, so the log itself knows a repeat: the same ids are in the stream already, or are
 * refused there. No key ever expires.
 */

/** One order in one stream: the ids its events get. */
export interface IdempotencyMark {
  /** What to ask again with. */
  readonly key: string;
  eventId(index: number): string;
  /** Its name in the stream: with what their ids begin, whatever the order so named asked for. See `markIn`. */
  readonly name: string;
  /** Whether an event in the stream is of the order so named, whatever it asked for. */
  isOf(eventId: string): boolean;
}

/** Gives an order without being a user: who registers. */
export const nobody = 'nobody';

const maxKeyLength = 100;

/** Throws `invalid-field` for what cannot be a key. null: the client gave none. */
export function checkIdempotencyKey(field: string, key: string | null | undefined): string | null {
  if (key === null || key === undefined || key === '') return null;
  if (key.length > maxKeyLength || !/^[\x21-\x7e]+$/.test(key))
    throw invalidField(field, `1 to ${maxKeyLength} visible ASCII characters`);
  return key;
}

const hexOf = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * A UUID (version 8) whose first half is the order's name in its stream and whose second half is its place and what it
 * asks for: one key used for two different things shows. `content` is to be a keyed hash where it is somebody's data.
 */
export function idempotencyMark(
  actor: IdempotentOrder['actor'],
  key: string,
  stream: StreamName,
  content: string,
): IdempotencyMark {
  const name = hexOf([String(actor), key, stream]);
  const first = `${name.slice(0, 8)}-${name.slice(8, 12)}-8${name.slice(12, 15)}`;
  const asked = hexOf([content]).slice(0, 12);
  return {
    key,
    name: first,
    eventId: (index) => `${first}-a${index.toString(16).padStart(3, '0')}-${asked}`,
    isOf: (eventId) => eventId.startsWith(first),
  };
}

/** The name of the mark that an event's id was made with; null: it was made without one. */
export const markIn = (eventId: string): string | null => (eventId.charAt(14) === '8' ? eventId.slice(0, 18) : null);

export interface IdempotentOrder {
  readonly actor: UserId | typeof nobody;
  /** null: the client gave none. */
  readonly key: string | null;
  /** Which command, and what it asks for; the same order has the same text. */
  readonly content: string;
}

/** What an order's run needs to be repeatable. */
export interface Repeatable {
  /** Its mark in a stream it writes to. */
  mark(stream: StreamName): IdempotencyMark;
  /** Its name among the orders of all, as a keyed hash. */
  readonly name: string;
}

/** Orders without a key whose outcome is unknown: their repeat must be known as one. */
const maxUnsettled = 10_000;
/**
 * Whoever gives the same order later than this has looked at what came of the first, or means another one: an allowance
 * granted every day must not be taken for yesterday's.
 */
const unsettledForMs = 60 * 60_000;

interface OrderBookPorts {
  readonly hash: (text: string) => string;
  readonly clock: Clock;
  readonly unsettledOrders: PendingIdempotencyKeys;
}

/**
 * Makes orders repeatable. A client that sends no key, and hears that the outcome is unknown, or nothing because the
 * gateway died, sends the same form again: it then gets the key of the first attempt, until the outcome is known or an
 * hour has passed.
 */
export function idempotencyStore({ hash, clock, unsettledOrders }: OrderBookPorts) {
  let remembered: Promise<Map<string, PendingIdempotencyKey>> | null = null;

  /** By form; what earlier processes have left included. */
  const unsettled = (): Promise<Map<string, PendingIdempotencyKey>> => {
    // Before this process writes down any of its own: what it reads are those of others.
    remembered ??= unsettledOrders.left(Instant(clock.now() - unsettledForMs)).then(
      (left) => new Map(left.map((order) => [order.form, order])),
      (error) => {
        remembered = null;
        throw error;
      },
    );
    return remembered;
  };

  const remember = (orders: Map<string, PendingIdempotencyKey>, order: PendingIdempotencyKey): void => {
    orders.delete(order.form);
    orders.set(order.form, order);
    const oldest = orders.keys().next();
    if (orders.size > maxUnsettled && oldest.done === false) orders.delete(oldest.value);
  };

  /** Under the name the same order has had before, where nobody knows what came of it. */
  const underOwnName = async <Result>(form: string, carryOut: (key: string) => Promise<Result>): Promise<Result> => {
    const orders = await unsettled();
    const before = orders.get(form);
    const since = clock.now();
    const isRepeat = before !== undefined && since - before.since <= unsettledForMs;
    const order = { form, key: isRepeat ? before.key : randomUUID(), since };
    await unsettledOrders.begin(order);
    const settle = async (): Promise<void> => {
      if (orders.get(form)?.key === order.key) orders.delete(form);
      // Its outcome is answered whether or not this works; a note that stays is forgotten within the hour.
      await unsettledOrders.end(order.key).catch(() => {});
    };
    try {
      const result = await carryOut(order.key);
      await settle();
      return result;
    } catch (error) {
      if (error instanceof Failure && error.kind === 'unavailable') remember(orders, order);
      else await settle();
      throw error;
    }
  };

  return async <Result>(
    { actor, key, content }: IdempotentOrder,
    run: (order: Repeatable) => Promise<Result>,
  ): Promise<Result> => {
    const form = hash(`order ${actor} ${content}`);
    const nameOf = (named: string): string => hash(`order name ${actor} ${named}`);
    const carryOut = (named: string): Promise<Result> =>
      run({ mark: (stream) => idempotencyMark(actor, named, stream, form), name: nameOf(named) });
    if (key === null) return underOwnName(form, carryOut);
    const bound = await unsettledOrders.bind(nameOf(key), form);
    if (bound.form !== form) throw new Failure('idempotency-key-reused', { key });
    try {
      return await carryOut(key);
    } catch (error) {
      // Refused: nothing was written, so whoever mends what was wrong may keep the key.
      const isRefused = error instanceof Failure && error.kind !== 'unavailable';
      if (bound.isNew && isRefused) await unsettledOrders.unbind(nameOf(key)).catch(() => {});
      throw error;
    }
  };
}

export type IdempotencyStore = ReturnType<typeof idempotencyStore>;
