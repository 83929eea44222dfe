import { randomBytes } from 'node:crypto';
import { Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { RedemptionId, type SecretId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import {
  checkRedemptionCount,
  checkRedemptionName,
  type Redemption,
  type RedemptionCommand,
  type RedemptionEvent,
  type RedemptionTerms,
  redemptionCode,
  redemptionDecider,
  redemptionQuota,
  unknownCode,
} from '../../domain/payment/redemption.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore, Repeatable } from '../idempotency.js';
import { inParallel } from '../in-parallel.js';
import type { Tail } from '../memory/tail.js';
import type { Clock, Directory, Ids, QuotaGate, ReadModelProgress, Vault } from '../ports/storage-ports.js';
import { recentAttempts } from '../recent-attempts.js';

interface RedemptionCommandPorts {
  readonly clock: Clock;
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly gate: Pick<QuotaGate, 'available'>;
  readonly tail: Pick<Tail, 'position'>;
  readonly once: IdempotencyStore;
  readonly directory: Pick<Directory, 'user'>;
  /** By keyed hash, deleted ones included, as far as the read model has come. null: no such code. */
  readonly redemptionByHash: (codeHash: string) => Promise<RedemptionId | null>;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

export interface RedemptionInput {
  readonly name: string;
  readonly quota: number;
}

interface IssuedCode {
  readonly id: RedemptionId;
  readonly code: string;
}

/** What has become of a batch. */
interface IssuedCodes {
  /** Those there are now. */
  readonly codes: readonly IssuedCode[];
  /** Of the last of them. */
  readonly position: Position;
  /** Why the others are missing; null: there are none. The same order, given again, makes them. */
  readonly failure: Failure | null;
}

const codeBytes = 16;

/** Longest a code waits for the read model that knows it. */
const findingMs = 2_000;

/*
 * Guesses lead nowhere, with 128 bits to guess; they are kept from being work. Attempts count until they turn out to have
 * named a code there is, used or not: whoever has a hundred codes may redeem them all.
 */
const wrongOfUser = { most: 10, withinMs: 10 * 60_000 } as const;
/** A school or an office is one place. */
const wrongAtPlace = { most: 100, withinMs: 10 * 60_000 } as const;

export function redemptionCommands(ports: RedemptionCommandPorts) {
  const { clock, handle, ids, vault, gate, tail, once, directory, redemptionByHash, progress } = ports;
  const guessesOfUser = recentAttempts<Actor['id']>(wrongOfUser, clock);
  const guessesAtPlace = recentAttempts<string>(wrongAtPlace, clock);

  const run = async (id: RedemptionId, command: RedemptionCommand): Promise<Position> => {
    const { position } = await handle(redemptionDecider, streams.redemption(id), command);
    return position;
  };

  /** The code at a place of the batch; a repeat finds what the order has led to before. */
  const issueOne = async (
    actor: Actor,
    terms: RedemptionTerms,
    { name, mark }: Repeatable,
    place: number,
  ): Promise<IssuedCode & { position: Position }> => {
    const id = RedemptionId(await ids.allotted('redemption', `${name} ${place}`));
    const code = randomBytes(codeBytes).toString('hex');
    let secret = null as SecretId | null;
    /** Not asked of a repeat: it leaves nothing in the vault. */
    const issuing = async (): Promise<RedemptionCommand> => {
      secret ??= await vault.put(code);
      const { name, quota } = terms;
      return { type: 'IssueRedemptionCode', codeHash: vault.hash(code), secret, name, quota, by: actor.id };
    };
    const stream = streams.redemption(id);
    const { events, position } = await handle<Redemption, RedemptionCommand, RedemptionEvent>(
      redemptionDecider,
      stream,
      issuing,
      mark(stream),
    );
    const [issued] = events;
    if (issued?.type !== 'RedemptionCodeIssued' || issued.secret === secret) return { id, code, position };
    if (secret !== null) await vault.drop([secret]);
    const before = await vault.get(issued.secret);
    if (before === null) throw new Failure('redemption-not-found');
    return { id, code: before, position };
  };

  /** Which code it is. Throws `redemption-code-unknown`, or `store-unavailable` where that cannot be said. */
  const find = async (code: string): Promise<RedemptionId> => {
    const isKnown = await progress.reached(tail.position(), findingMs, ['redemptions']);
    const id = await redemptionByHash(vault.hash(code));
    if (id !== null) return id;
    throw isKnown ? unknownCode() : new Failure('store-unavailable');
  };

  /** The same, for somebody who may be guessing. Throws `too-many-attempts`. */
  const findFor = async (actor: Actor, place: string, code: string): Promise<RedemptionId> => {
    const ofUser = guessesOfUser.count(actor.id);
    let isGuess = false;
    try {
      const atPlace = guessesAtPlace.count(place);
      try {
        return await find(code);
      } catch (error) {
        isGuess = error instanceof Failure && error.code === 'redemption-code-unknown';
        throw error;
      } finally {
        if (!isGuess) atPlace.withdrawn();
      }
    } finally {
      if (!isGuess) ofUser.withdrawn();
    }
  };

  return {
    /**
     * Up to a hundred codes with one name and worth. `key`: the client's name for this order; a repeat answers with the
     * same codes, and makes those that are missing. Throws where there is none.
     */
    async issue(
      actor: Actor,
      { name, quota }: RedemptionInput,
      count: number,
      key: string | null = null,
    ): Promise<IssuedCodes> {
      authorise(actor, 'admin');
      checkRedemptionName(name);
      checkRedemptionCount(count);
      const terms = { name, quota: redemptionQuota(quota) };
      const content = JSON.stringify(['issue redemption codes', terms, count]);
      const made: (IssuedCode & { position: Position })[] = [];
      let failure: Failure | null = null;
      try {
        await once({ actor: actor.id, key, content }, (order) =>
          inParallel([...Array(count).keys()], async (place) => {
            made.push(await issueOne(actor, terms, order, place));
          }),
        );
      } catch (error) {
        if (made.length === 0 || !(error instanceof Failure)) throw error;
        failure = error;
      }
      made.sort((a, b) => a.id - b.id);
      const position = Position(Math.max(...made.map((code) => code.position)));
      return { codes: made.map(({ id, code }) => ({ id, code })), position, failure };
    },

    async edit(actor: Actor, id: RedemptionId, { name, quota }: RedemptionInput): Promise<Position> {
      authorise(actor, 'admin');
      checkRedemptionName(name);
      return run(id, { type: 'EditRedemptionCode', by: actor.id, name, quota: redemptionQuota(quota) });
    },

    async setEnabled(actor: Actor, id: RedemptionId, enabled: boolean): Promise<Position> {
      authorise(actor, 'admin');
      return run(id, { type: enabled ? 'EnableRedemptionCode' : 'DisableRedemptionCode', by: actor.id });
    },

    async remove(actor: Actor, id: RedemptionId): Promise<Position> {
      authorise(actor, 'admin');
      return run(id, { type: 'DeleteRedemptionCode', by: actor.id });
    },

    /**
     * Adds what the code is worth to what the user may spend: to that of one user, once. `place`: where the client is.
     * Throws `redemption-code-missing`, `redemption-code-unknown`, `redemption-code-used` (or disabled),
     * `redemption-code-own`.
     */
    async redeem(
      actor: Actor,
      typed: string,
      place: string,
      key: string | null = null,
    ): Promise<{ quota: Quota; position: Position }> {
      const id = await findFor(actor, place, redemptionCode(typed));
      const stream = streams.redemption(id);
      const content = JSON.stringify(['redeem', id]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        const redeeming = async (): Promise<RedemptionCommand> => {
          const user = await directory.user(actor.id);
          if (user?.status !== 'enabled')
            throw new Failure(user?.status === 'disabled' ? 'user-disabled' : 'user-deleted');
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
    },
  };
}
