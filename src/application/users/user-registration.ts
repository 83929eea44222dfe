import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type SecretId, UserId } from '../../domain/kernel/ids.js';
import type { Inviter } from '../../domain/user/invite-reward.js';
import type { Role } from '../../domain/user/role.js';
import type { Actor, UserEvent } from '../../domain/user/user.js';
import { checkDisplayName, checkPassword, checkUsername } from '../../domain/user/user-fields.js';
import { authorise } from '../authorise.js';
import { markedFrom, repeated } from '../handle.js';
import type { IdempotencyMark, IdempotentOrder } from '../idempotency.js';
import type { ExternalIdentity } from '../sign-in/bindings.js';
import { rollBackAll } from './unique-claim.js';
import { runUserCommand, type UserPorts } from './user-command-ports.js';
import { type Welcome, welcome } from './welcome.js';

/* How somebody becomes a user, whoever asks for it. */

export interface NewUser {
  readonly username: string;
  readonly password: string;
  /** '' : the user name. */
  readonly displayName: string;
  readonly role?: Role;
}

/** Somebody who is about to be a user. */
interface Newcomer {
  readonly id: UserId;
  readonly username: string;
  readonly displayName: string;
  /** null: signs in by an identity provider. */
  readonly passwordSecret: SecretId | null;
  readonly role: Role;
  readonly email?: string | null;
  /** By which the user comes. */
  readonly identity?: ExternalIdentity | null;
  readonly inviter?: Inviter | null;
  /** Left out: nobody but themselves. */
  readonly createdBy?: Actor;
}

interface Registered {
  readonly id: UserId;
  readonly position: Position;
}

/** Rolls back what it has claimed where one of them is somebody else's. */
async function claimAll(
  { names, bindings }: UserPorts,
  { id, username, email = null, identity = null }: Newcomer,
): Promise<void> {
  const wanted = [
    ...(email === null ? [] : [bindings.emailClaim(email)]),
    ...(identity === null ? [] : [bindings.identityClaim(identity)]),
  ];
  const made = [await names.claim(username, id)];
  try {
    for (const claim of wanted) made.push(await claim.claim(id));
  } catch (error) {
    // What is left where this fails too is unused, and the next who wants it takes it over.
    await rollBackAll(made)().catch(() => {});
    throw error;
  }
}

/** Registers the user unless it exists. Throws `username-taken`, `email-taken`, `identity-taken`. */
export async function registerUser(
  ports: UserPorts,
  newcomer: Newcomer,
  grants: Welcome['grants'],
  mark: IdempotencyMark | null = null,
): Promise<Position> {
  const { personal, bindings, inviteRewards } = ports;
  const {
    id,
    username,
    displayName,
    passwordSecret,
    role,
    email = null,
    identity = null,
    inviter = null,
    createdBy,
  } = newcomer;
  await claimAll(ports, newcomer);
  const registration = {
    type: 'RegisterUser',
    username,
    displayName: await personal.seal(id, displayName),
    email: email === null ? null : await bindings.emailBinding(id, email),
    identity: identity === null ? null : await bindings.identityBinding(id, identity),
    role,
    group: 'default',
    passwordSecret,
    inviter,
    grants,
  } as const;
  const { position } = await runUserCommand(
    createdBy === undefined ? ports.handle : ports.handle.by(createdBy),
    id,
    registration,
    mark,
  );
  if (inviter === null) return position;
  // Where it fails, a reaction to the registration does it.
  const reward = await inviteRewards.give(id).catch(() => null);
  return reward?.position ?? position;
}

/**
 * An order's idempotency mark says nothing of the password. So a repeat with another password is found by comparing it
 * with the stored one, or it would seem to have set it. Throws `idempotency-key-reused`.
 */
async function mustBePasswordOf(
  { vault, passwords }: UserPorts,
  made: readonly UserEvent[],
  password: string,
  key: string,
): Promise<void> {
  const [registered] = made;
  const secret = registered?.type === 'UserRegistered' ? registered.passwordSecret : null;
  const stored = secret === null ? null : await vault.get(secret);
  if (stored !== null && !(await passwords.verify(stored, password)))
    throw new Failure('idempotency-key-reused', { key });
}

/**
 * Registers somebody with a password, once per order. `prepare` says what else the newcomer has; it is asked unless
 * the order has been carried out before.
 */
export async function registerOnce(
  ports: UserPorts,
  order: IdempotentOrder,
  { username, password, displayName, role = 'ordinary' }: NewUser,
  prepare: () => Promise<Pick<Newcomer, 'email' | 'inviter' | 'createdBy'> & Pick<Welcome, 'grants'>>,
): Promise<Registered> {
  const { store, ids, vault, passwords, once } = ports;
  return once(order, async ({ name, mark }) => {
    const id = UserId(await ids.allotted('user', name));
    const registration = mark(streams.user(id));
    // Nobody else's order makes a user of this id, so what came of this one begins the stream.
    const before = repeated<UserEvent>(await markedFrom(store, streams.user(id), registration, 0), registration);
    if (before !== null) {
      await mustBePasswordOf(ports, before.events, password, registration.key);
      return { id, position: before.position };
    }
    const { grants, ...others } = await prepare();
    const passwordSecret = await vault.put(await passwords.hash(password));
    try {
      const newcomer = { id, username, displayName, passwordSecret, role, ...others };
      return { id, position: await registerUser(ports, newcomer, grants, registration) };
    } catch (error) {
      // Somebody else has the name, or the address: nothing has come of it. What becomes of other failures is unknown.
      if (error instanceof Failure && error.kind === 'conflict') await vault.drop([passwordSecret]).catch(() => {});
      throw error;
    }
  });
}

/** By an administrator. `key`: the client's idempotency key; a repeat answers with the same user. */
export async function createUser(
  ports: UserPorts,
  actor: Actor,
  { username, password, displayName, role = 'ordinary' }: NewUser,
  key: string | null = null,
): Promise<Registered> {
  authorise(actor, 'admin');
  checkUsername(username);
  checkPassword(password);
  checkDisplayName(displayName);
  if (role !== 'ordinary' && actor.role !== 'root') throw new Failure('role-create-forbidden');
  if (role === 'root') throw new Failure('role-create-forbidden');
  const shown = displayName === '' ? username : displayName;
  const content = JSON.stringify(['create user', username, shown, role]);
  const order = { actor: actor.id, key, content };
  return registerOnce(ports, order, { username, password, displayName: shown, role }, async () => ({
    ...welcome(ports.directory.settings()),
    createdBy: actor,
  }));
}
