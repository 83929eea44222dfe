import { type DomainEvent, type Recorded, type StreamName, streams } from '../../domain/events/events.js';
import {
  type Claim,
  type ClaimCommand,
  type IdentityKind,
  identityDeciders,
  inviteCodeDecider,
  usernameDecider,
} from '../../domain/kernel/claim.js';
import type { Decider } from '../../domain/kernel/decider.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { IdentityClaim, UserId } from '../../domain/kernel/ids.js';
import { type User, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import type { Clock, EventStore } from '../ports/storage-ports.js';

/*
 * What no two users may have is claimed in a stream of its own before a user gets it. A claim whose user does not bear
 * what it claims is worth nothing after a while: the command that made it died half-way.
 */

const abandonedAfterMs = 60_000;

/** A user there is, or was. */
export type KnownUser = Exclude<User, { status: 'absent' }>;

/** Gives a claim back, unless the user bears it or it has been claimed since, also by another order of the same user. */
export type Rollback = () => Promise<void>;

export interface Claiming {
  /** Throws Failure (`username-taken`, …) while somebody else holds it. Resolves with what undoes it. */
  claim(userId: UserId): Promise<Rollback>;
  /** Before the user gives it up: what gives it back afterwards. */
  lettingGo(userId: UserId): Promise<Rollback>;
  /** Gives it back, unless the user bears it: a change that seemed to fail may have happened. */
  release(userId: UserId): Promise<void>;
  /** Who holds and bears it, deleted users included; null: nobody. */
  holder(): Promise<UserId | null>;
}

const keep: Rollback = async () => {};

/** Each of them, whatever becomes of the others. */
export const rollBackAll =
  (all: readonly Rollback[]): Rollback =>
  async () => {
    await Promise.all(all.map((letGo) => letGo()));
  };

/** What can be exchanged. */
export type Exchanged = Pick<Claiming, 'claim' | 'lettingGo'>;

/** What a change gives a user and what it takes; null: nothing that had to be claimed. */
export interface ClaimSwap {
  readonly wanted: Exchanged | null;
  readonly former: Exchanged | null;
}

/**
 * Claims what a change gives, and gives back what it takes, or what it claimed if it fails. `change` awaits `prepare`
 * for every state that it is decided on: another order of the same user may have come in between, whose own exchange has
 * let go of what this one found claimed already. `exchanged` reads that state, or a newer one.
 */
export async function exchanging<Result>(
  userId: UserId,
  exchanged: () => Promise<ClaimSwap>,
  change: (prepare: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let undo = keep;
  let letGo = keep;
  const prepare = async (): Promise<void> => {
    const { wanted, former } = await exchanged();
    letGo = (await former?.lettingGo(userId)) ?? keep;
    undo = (await wanted?.claim(userId)) ?? undo;
  };
  let result: Result;
  try {
    result = await change(prepare);
  } catch (error) {
    // Where this fails too, the claim is left unused, and the next who wants it takes it over.
    await undo().catch(() => {});
    throw error;
  }
  await letGo();
  return result;
}

export function claims(store: Pick<EventStore, 'readStream'>, clock: Clock, handle: Handle) {
  /** From the log, which no read model or memory is ahead of. null: no such user. */
  const userOf = async (userId: UserId): Promise<KnownUser | null> => {
    const recorded = await store.readStream(streams.user(userId));
    const user = recorded.reduce(
      (folded, { event }) => userDecider.evolve(folded, event as UserEvent),
      userDecider.initial,
    );
    return user.status === 'absent' ? null : user;
  };

  const claiming = <Event extends DomainEvent>(
    stream: StreamName,
    decider: Decider<Claim, ClaimCommand, Event>,
    isBorneBy: (user: KnownUser) => boolean,
  ): Claiming => {
    const bears = async (userId: UserId): Promise<boolean> => {
      const user = await userOf(userId);
      return user !== null && !user.erased && isBorneBy(user);
    };
    const order = (command: ClaimCommand) => handle(decider, stream, command);

    const claimIn = (recorded: readonly Recorded[]): Claim =>
      recorded.reduce((claim, { event }) => decider.evolve(claim, event as Event), decider.initial);

    /** Frees the claim where it is abandoned; tells whether it is free. */
    const freed = async (): Promise<boolean> => {
      const recorded = await store.readStream(stream);
      const last = recorded.at(-1);
      const { holder, claims } = claimIn(recorded);
      if (last === undefined || holder === null) return true;
      if (clock.now() - last.at < abandonedAfterMs || (await bears(holder))) return false;
      // Unless they have claimed it again meanwhile, and are about to bear it.
      await order({ type: 'Release', userId: holder, claims });
      return true;
    };

    const releaseAfter =
      (userId: UserId, claims: number): Rollback =>
      async () => {
        if (!(await bears(userId))) await order({ type: 'Release', userId, claims });
      };

    const lettingGo = async (userId: UserId): Promise<Rollback> => {
      const { holder, claims } = claimIn(await store.readStream(stream));
      return holder === userId ? releaseAfter(userId, claims) : keep;
    };

    /**
     * A claim that was left over, as a change failed half-way, may be taken for abandoned while this one is made; or it is
     * of another order of the same user, which goes on. So it is renewed, and not given back.
     */
    const claimOrRenew = async (userId: UserId): Promise<Rollback> => {
      const { events, position } = await order({ type: 'Claim', userId });
      if (events.length > 0) {
        const upToHere = (await store.readStream(stream)).filter((recorded) => recorded.position <= position);
        return releaseAfter(userId, claimIn(upToHere).claims);
      }
      if (!(await bears(userId))) await order({ type: 'Claim', userId, anew: true });
      return keep;
    };

    return {
      lettingGo,

      async claim(userId) {
        try {
          return await claimOrRenew(userId);
        } catch (error) {
          if (!(error instanceof Failure) || error.kind !== 'conflict' || !(await freed())) throw error;
          return claimOrRenew(userId);
        }
      },

      async release(userId) {
        if (!(await bears(userId))) await order({ type: 'Release', userId });
      },

      async holder() {
        const { holder } = claimIn(await store.readStream(stream));
        return holder !== null && (await bears(holder)) ? holder : null;
      },
    };
  };

  return {
    userOf,

    /** `written`: as it stands or looks, see look-alike.ts; `isBorneBy`: whether a user has such a name. */
    username: (written: string, isBorneBy: (user: KnownUser) => boolean): Claiming =>
      claiming(streams.username(written), usernameDecider, isBorneBy),

    invite: (code: string): Claiming =>
      claiming(streams.invite(code), inviteCodeDecider, ({ inviteCode }) => inviteCode === code),

    identity: (kind: IdentityKind, claim: IdentityClaim): Claiming =>
      claiming(streams.identity(kind, claim), identityDeciders[kind], ({ email, identities }) =>
        kind === 'email' ? email === claim : identities[kind] === claim,
      ),
  };
}

export type Claims = ReturnType<typeof claims>;
