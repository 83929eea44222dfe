import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { RedemptionId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import {
  type Redemption,
  type RedemptionCommand,
  type RedemptionEvent,
  redemptionCode,
  redemptionDecider,
  unknownCode,
} from '../../domain/payment/redemption.js';
import type { Actor } from '../../domain/user/user.js';
import { type RecentAttempts, recentAttempts } from '../../rate-limit/recent-attempts.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore } from '../idempotency.js';
import type { Tail } from '../memory/tail.js';
import type { Clock, Directory, QuotaGate, ReadModelProgress, Vault } from '../ports/storage-ports.js';

/* A code typed by a user, who may be guessing. */

interface FindCodePorts {
  readonly vault: Pick<Vault, 'hash'>;
  readonly tail: Pick<Tail, 'position'>;
  /** By keyed hash, deleted ones included, as far as the read model has come. null: no such code. */
  readonly redemptionByHash: (codeHash: string) => Promise<RedemptionId | null>;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

export interface RedeemPorts extends FindCodePorts {
  readonly handle: Handle;
  readonly gate: Pick<QuotaGate, 'available'>;
  readonly once: IdempotencyStore;
  readonly directory: Pick<Directory, 'user'>;
}

/** Longest a code waits for the read model that knows it. */
const findingMs = 2_000;

/*
 * Guesses lead nowhere, with 128 bits to guess; they are kept from being work. Attempts count until they turn out to have
 * named a code there is, used or not: whoever has a hundred codes may redeem them all.
 */
const guessesByUser = { max: 10, withinMs: 10 * 60_000 } as const;
/** A school or an office is one network. */
const guessesByNetwork = { max: 100, withinMs: 10 * 60_000 } as const;

interface GuessLimits {
  readonly byUser: RecentAttempts<Actor['id']>;
  readonly byNetwork: RecentAttempts<string>;
}

export const guessLimits = (clock: Clock): GuessLimits => ({
  byUser: recentAttempts(guessesByUser, clock),
  byNetwork: recentAttempts(guessesByNetwork, clock),
});

/** Which code it is. Throws `redemption-code-unknown`, or `store-unavailable` where that cannot be said. */
async function findCode(
  { progress, tail, vault, redemptionByHash }: FindCodePorts,
  code: string,
): Promise<RedemptionId> {
  const isKnown = await progress.reached(tail.position(), findingMs, ['redemptions']);
  const id = await redemptionByHash(vault.hash(code));
  if (id !== null) return id;
  throw isKnown ? unknownCode() : new Failure('store-unavailable');
}

interface TypedCode {
  readonly code: string;
  /** The client's, by which its attempts are counted. */
  readonly network: string;
}

/** The same, for somebody who may be guessing. Throws `too-many-attempts`. */
async function findTypedCode(
  ports: FindCodePorts,
  limits: GuessLimits,
  actor: Actor,
  { code, network }: TypedCode,
): Promise<RedemptionId> {
  const byUser = limits.byUser.count(actor.id);
  let isGuess = false;
  try {
    const byNetwork = limits.byNetwork.count(network);
    try {
      return await findCode(ports, code);
    } catch (error) {
      isGuess = error instanceof Failure && error.code === 'redemption-code-unknown';
      throw error;
    } finally {
      if (!isGuess) byNetwork.withdrawn();
    }
  } finally {
    if (!isGuess) byUser.withdrawn();
  }
}

interface RedeemRequest extends TypedCode {
  /** The client's name for this order; null: it has none. */
  readonly key: string | null;
}

/**
 * Adds what the code is worth to what the user may spend: to that of one user, once. Throws `redemption-code-missing`,
 * `redemption-code-unknown`, `redemption-code-used` (or disabled), `redemption-code-own`.
 */
export async function redeemCode(
  ports: RedeemPorts,
  limits: GuessLimits,
  actor: Actor,
  { code, network, key }: RedeemRequest,
): Promise<{ quota: Quota; position: Position }> {
  const { handle, once, directory, gate } = ports;
  const id = await findTypedCode(ports, limits, actor, { code: redemptionCode(code), network });
  const stream = streams.redemption(id);
  const content = JSON.stringify(['redeem', id]);
  return once({ actor: actor.id, key, content }, async ({ mark }) => {
    const redeeming = async (): Promise<RedemptionCommand> => {
      const user = await directory.user(actor.id);
      if (user?.status !== 'enabled') throw new Failure(user?.status === 'disabled' ? 'user-disabled' : 'user-deleted');
      return { type: 'RedeemCode', user: actor.id, role: user.role, balance: await gate.available(actor.id) };
    };
    const { events, position } = await handle<Redemption, RedemptionCommand, RedemptionEvent>(
      redemptionDecider,
      stream,
      redeeming,
      mark(stream),
    );
    const [redeemed] = events;
    if (redeemed?.type !== 'RedemptionCodeRedeemed') throw new Error(`${stream} was redeemed without a credit`);
    return { quota: redeemed.quota, position };
  });
}
