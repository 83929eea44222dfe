import { type DomainEvent, type Recorded, type StreamName, streams } from '../../domain/events/events.js';
import type { Claim, ClaimCommand } from '../../domain/kernel/claim.js';
import type { Decider } from '../../domain/kernel/decider.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type User, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import type { Clock, EventStore } from '../ports/storage-ports.js';

/*
 * A claim on what no two users may have, in a stream of its own. A claim whose user does not bear what it claims was left
 * by a command that died half-way: after a while, the next who wants it takes it over.
 */

const abandonedAfterMs = 60_000;

/** A user there is, or was. */
export type KnownUser = Exclude<User, { status: 'absent' }>;

export interface ClaimPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly clock: Clock;
  readonly handle: Handle;
}

/** What is claimed: the stream, its decider, and whether a user bears it. */
export interface ClaimSubject<Event extends DomainEvent> {
  readonly stream: StreamName;
  readonly decider: Decider<Claim, ClaimCommand, Event>;
  readonly isBorneBy: (user: KnownUser) => boolean;
}

/** Gives a claim back, unless the user bears it or it has been claimed since, also by another order of the same user. */
export type Rollback = () => Promise<void>;

export const nothingToRollBack: Rollback = async () => {};

/** Each of them, whatever becomes of the others. */
export const rollBackAll =
  (all: readonly Rollback[]): Rollback =>
  async () => {
    await Promise.all(all.map((rollBack) => rollBack()));
  };

/** From the log, which no read model or memory is ahead of. null: no such user. */
export async function userFromLog({ store }: Pick<ClaimPorts, 'store'>, userId: UserId): Promise<KnownUser | null> {
  const recorded = await store.readStream(streams.user(userId));
  const user = recorded.reduce(
    (folded, { event }) => userDecider.evolve(folded, event as UserEvent),
    userDecider.initial,
  );
  return user.status === 'absent' ? null : user;
}

async function bears<Event extends DomainEvent>(
  ports: ClaimPorts,
  { isBorneBy }: ClaimSubject<Event>,
  userId: UserId,
): Promise<boolean> {
  const user = await userFromLog(ports, userId);
  return user !== null && !user.erased && isBorneBy(user);
}

const claimIn = <Event extends DomainEvent>({ decider }: ClaimSubject<Event>, recorded: readonly Recorded[]): Claim =>
  recorded.reduce((claim, { event }) => decider.evolve(claim, event as Event), decider.initial);

const order = <Event extends DomainEvent>(
  { handle }: ClaimPorts,
  { decider, stream }: ClaimSubject<Event>,
  command: ClaimCommand,
) => handle(decider, stream, command);

/** Frees the claim where it is abandoned; resolves with whether it is free. */
async function freeAbandoned<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
): Promise<boolean> {
  const recorded = await ports.store.readStream(subject.stream);
  const last = recorded.at(-1);
  const { holder, claims } = claimIn(subject, recorded);
  if (last === undefined || holder === null) return true;
  if (ports.clock.now() - last.at < abandonedAfterMs || (await bears(ports, subject, holder))) return false;
  // Unless they have claimed it again meanwhile, and are about to bear it.
  await order(ports, subject, { type: 'Release', userId: holder, claims });
  return true;
}

const releaseOf =
  <Event extends DomainEvent>(
    ports: ClaimPorts,
    subject: ClaimSubject<Event>,
    claimed: { readonly userId: UserId; readonly claims: number },
  ): Rollback =>
  async () => {
    if (!(await bears(ports, subject, claimed.userId))) await order(ports, subject, { type: 'Release', ...claimed });
  };

/**
 * A claim that the user holds already may be taken for abandoned while this one is made, or belong to another order of
 * the same user, which goes on. So it is renewed, and not given back.
 */
async function claimOrRenew<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
  userId: UserId,
): Promise<Rollback> {
  const { events, position } = await order(ports, subject, { type: 'Claim', userId });
  if (events.length > 0) {
    const recorded = await ports.store.readStream(subject.stream);
    const upToHere = recorded.filter((one) => one.position <= position);
    return releaseOf(ports, subject, { userId, claims: claimIn(subject, upToHere).claims });
  }
  if (!(await bears(ports, subject, userId))) await order(ports, subject, { type: 'Claim', userId, anew: true });
  return nothingToRollBack;
}

/** Throws Failure (`username-taken`, …) while somebody else holds it. Resolves with what undoes it. */
export async function claimFor<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
  userId: UserId,
): Promise<Rollback> {
  try {
    return await claimOrRenew(ports, subject, userId);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'conflict') throw error;
    if (!(await freeAbandoned(ports, subject))) throw error;
    return claimOrRenew(ports, subject, userId);
  }
}

/** Before the user gives it up: what gives it back afterwards. */
export async function prepareRelease<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
  userId: UserId,
): Promise<Rollback> {
  const { holder, claims } = claimIn(subject, await ports.store.readStream(subject.stream));
  return holder === userId ? releaseOf(ports, subject, { userId, claims }) : nothingToRollBack;
}

/** Gives it back, unless the user bears it: a change that seemed to fail may have happened. */
export async function releaseClaim<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
  userId: UserId,
): Promise<void> {
  if (!(await bears(ports, subject, userId))) await order(ports, subject, { type: 'Release', userId });
}

/** Who holds and bears it, deleted users included; null: nobody. */
export async function claimHolder<Event extends DomainEvent>(
  ports: ClaimPorts,
  subject: ClaimSubject<Event>,
): Promise<UserId | null> {
  const { holder } = claimIn(subject, await ports.store.readStream(subject.stream));
  return holder !== null && (await bears(ports, subject, holder)) ? holder : null;
}
