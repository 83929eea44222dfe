import { randomBytes } from 'node:crypto';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type SecretId, UserId } from '../../domain/kernel/ids.js';
import { enteredQuota, minus, plusQuota, Quota, zero } from '../../domain/kernel/quota.js';
import type { Inviter } from '../../domain/user/invite-reward.js';
import { type Actor, type Role, type UserCommand, type UserEvent, userDecider } from '../../domain/user/user.js';
import { checkDisplayName, checkPassword, checkUsername } from '../../domain/user/user-fields.js';
import { nothingShown, type SessionProof } from '../asking.js';
import { authorise } from '../authorise.js';
import { type Handle, type Observing, repeated } from '../handle.js';
import type { IdempotencyMark, IdempotencyStore, IdempotentOrder } from '../idempotency.js';
import { mustReach, type Tail } from '../memory/tail.js';
import type {
  Clock,
  Directory,
  EventStore,
  Ids,
  Passwords,
  PersonalData,
  QuotaGate,
  Sessions,
  Vault,
} from '../ports/storage-ports.js';
import { bindings, type ExternalIdentity } from '../sign-in/bindings.js';
import { passkeysOf } from '../sign-in/passkeys-of.js';
import type { StepUps } from '../sign-in/step-up.js';
import { claims, exchanging, rollBackAll } from './claims.js';
import { inviteRewards } from './invite-rewards.js';
import { invites } from './invites.js';
import { accountDeletion } from './leaving.js';
import { usernames } from './usernames.js';
import { type Welcome, welcome } from './welcome.js';

interface UserCommandPorts {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly gate: QuotaGate;
  readonly tail: Pick<Tail, 'reached'>;
  readonly once: IdempotencyStore;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

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
  /** null: signs in elsewhere. */
  readonly passwordSecret: SecretId | null;
  readonly role: Role;
  readonly email?: string | null;
  /** By which the user comes. */
  readonly identity?: ExternalIdentity | null;
  readonly inviter?: Inviter | null;
}

/** null: unchanged. */
export interface UserPatch {
  readonly username: string | null;
  readonly password: string | null;
  readonly displayName: string | null;
  readonly group: string | null;
  /** The balance the user shall have. */
  readonly quota: number | null;
  /**
   * The balance the form showed: what is added is the difference to it, so that what was spent while the form was open
   * stays spent. Missing or null: the difference to the balance now.
   */
  readonly shownQuota?: number | null;
  /**
   * The same where the form does not say it: what its sender read last. It is not part of what is asked for, as the
   * repeat of an order may come after another reading.
   */
  readonly readQuota?: number | null;
  readonly role: Role | null;
}

export type UserAction = 'enable' | 'disable' | 'delete' | 'promote' | 'demote';

export function userCommands(ports: UserCommandPorts) {
  const { store, clock, handle, ids, vault, personal, passwords, sessions, directory, gate, tail, once, stepUps } =
    ports;
  const claimed = claims(store, clock, handle);
  const names = usernames(claimed);
  const rewards = inviteRewards({ store, handle, directory, once });
  const bound = bindings({ handle, personal, claims: claimed, passkeysOf: passkeysOf(store) });

  const storedPassword = async (password: string | null): Promise<SecretId | null> =>
    password === null ? null : vault.put(await passwords.hash(password));

  const run = (id: UserId, command: UserCommand | Observing<UserCommand>, mark: IdempotencyMark | null = null) =>
    handle(userDecider, streams.user(id), command, mark);

  const register = async (
    { id, username, displayName, passwordSecret, role, email = null, identity = null, inviter = null }: Newcomer,
    grants: Welcome['grants'],
    mark: IdempotencyMark | null = null,
  ): Promise<Position> => {
    const wanted = [
      ...(email === null ? [] : [bound.emailClaim(email)]),
      ...(identity === null ? [] : [bound.identityClaim(identity)]),
    ];
    const undo = [await names.claim(username, id)];
    try {
      for (const claim of wanted) undo.push(await claim.claim(id));
    } catch (error) {
      // What is left where this fails too is unused, and the next who wants it takes it over.
      await rollBackAll(undo)().catch(() => {});
      throw error;
    }
    const { position } = await run(
      id,
      {
        type: 'RegisterUser',
        username,
        displayName: await personal.seal(id, displayName),
        email: email === null ? null : await bound.emailBinding(id, email),
        identity: identity === null ? null : await bound.identityBinding(id, identity),
        role,
        group: 'default',
        passwordSecret,
        inviter,
        grants,
      },
      mark,
    );
    if (inviter === null) return position;
    // Where it fails, a reaction to the registration does it.
    const reward = await rewards.give(id).catch(() => null);
    return reward?.position ?? position;
  };

  /** A change that may bring another name: `prepare` it for every state that it is decided on. */
  const renaming = (
    id: UserId,
    wanted: string | null,
    change: (prepare: () => Promise<void>) => Promise<Position>,
  ): Promise<Position> =>
    exchanging(
      id,
      async () => {
        const current = wanted === null ? null : await names.nameOf(id);
        if (wanted === null || current === null || wanted === current) return { wanted: null, former: null };
        checkUsername(wanted);
        return { wanted: names.exchanged(wanted), former: names.exchanged(current) };
      },
      change,
    );

  /** For another password, and for another name: one signs in with both. Throws `step-up-needed`. */
  const demandForOwn = async (
    actor: Actor,
    { username, password }: Pick<UserPatch, 'username' | 'password'>,
    asking: SessionProof,
    order: () => Promise<Position>,
  ): Promise<Position> => {
    const renamed = username !== null && username !== (await names.nameOf(actor.id));
    if (renamed) checkUsername(username);
    return renamed || password !== null ? stepUps.demand(actor, 'password', asking, order) : order();
  };

  /** A name the user already has may be longer than today's limit; only a new one is checked. */
  const checkProfile = (patch: { password: string | null; displayName: string | null }): void => {
    if (patch.password !== null) checkPassword(patch.password);
    if (patch.displayName !== null) checkDisplayName(patch.displayName);
  };

  /**
   * Passwords are no part of what an order's events are named by. So a repeat with another one is found out by asking
   * for the stored one, or it would seem to have set it. Throws `idempotency-key-reused`.
   */
  const mustBePasswordOf = async (made: readonly UserEvent[], password: string, key: string): Promise<void> => {
    const [registered] = made;
    const secret = registered?.type === 'UserRegistered' ? registered.passwordSecret : null;
    const stored = secret === null ? null : await vault.get(secret);
    if (stored !== null && !(await passwords.verify(stored, password)))
      throw new Failure('idempotency-key-reused', { key });
  };

  /**
   * Registers somebody with a password, once per order. `prepare` says what else the newcomer has; it is asked unless
   * the order has been carried out before.
   */
  const admit = async (
    order: IdempotentOrder,
    { username, password, displayName, role = 'ordinary' }: NewUser,
    prepare: () => Promise<Pick<Newcomer, 'email' | 'inviter'> & Pick<Welcome, 'grants'>>,
  ): Promise<{ id: UserId; position: Position }> =>
    once(order, async ({ name, mark }) => {
      const id = UserId(await ids.allotted('user', name));
      const registration = mark(streams.user(id));
      const before = repeated<UserEvent>(
        await store.eventsNamed(streams.user(id), registration.idsBegin),
        registration,
      );
      if (before !== null) {
        await mustBePasswordOf(before.events, password, registration.key);
        return { id, position: before.position };
      }
      const { grants, ...others } = await prepare();
      const passwordSecret = await vault.put(await passwords.hash(password));
      try {
        const newcomer = { id, username, displayName, passwordSecret, role, ...others };
        return { id, position: await register(newcomer, grants, registration) };
      } catch (error) {
        // Somebody else has the name, or the address: nothing has come of it. What becomes of other failures is unknown.
        if (error instanceof Failure && error.kind === 'conflict') await vault.drop([passwordSecret]).catch(() => {});
        throw error;
      }
    });

  return {
    /** Registers the user unless it exists. Throws `username-taken`, `email-taken`, `identity-taken`. */
    register,
    admit,

    isNameTaken: (username: string): Promise<boolean> => names.isTaken(username),

    /** A password that its user has not chosen; ends all sessions and the access token. */
    async replacePassword(id: UserId, password: string): Promise<Position> {
      const { position } = await run(id, {
        type: 'ChangeProfile',
        username: null,
        displayName: null,
        passwordSecret: await storedPassword(password),
      });
      await sessions.closeOlder(id, position);
      return position;
    },

    bindings: bound,
    invites: invites({ handle, claims: claimed }),
    inviteRewards: rewards,

    ...accountDeletion({ handle, personal, sessions, claims: claimed, names, stepUps }),

    /** `key`: the client's name for this order; a repeat answers with the same user. */
    async create(
      actor: Actor,
      { username, password, displayName, role = 'ordinary' }: NewUser,
      key: string | null = null,
    ): Promise<{ id: UserId; position: Position }> {
      authorise(actor, 'admin');
      checkUsername(username);
      checkPassword(password);
      checkDisplayName(displayName);
      if (role !== 'ordinary' && actor.role !== 'root') throw new Failure('role-create-forbidden');
      if (role === 'root') throw new Failure('role-create-forbidden');
      const shown = displayName === '' ? username : displayName;
      const content = JSON.stringify(['create user', username, shown, role]);
      return admit({ actor: actor.id, key, content }, { username, password, displayName: shown, role }, async () =>
        welcome(directory.settings()),
      );
    },

    /** `key`: the client's name for this order, for its balance. */
    async edit(
      actor: Actor,
      id: UserId,
      patch: UserPatch,
      key: string | null = null,
      asking: SessionProof = nothingShown,
    ): Promise<Position> {
      authorise(actor, 'admin');
      checkProfile(patch);
      const { displayName, group, role } = patch;
      const balance = patch.quota === null ? null : enteredQuota('quota', patch.quota);
      const shown = typeof patch.shownQuota === 'number' ? enteredQuota('shownQuota', patch.shownQuota) : null;
      const before =
        shown ?? (typeof patch.readQuota === 'number' ? enteredQuota('shownQuota', patch.readQuota) : null);
      const edit = () =>
        renaming(id, patch.username, async (prepare) => {
          const command: UserCommand = {
            type: 'EditUser',
            by: actor,
            claimedRole: role,
            username: patch.username,
            displayName: displayName === null ? null : await personal.seal(id, displayName),
            group,
            passwordSecret: await storedPassword(patch.password),
          };
          const { position } = await run(id, () => prepare().then(() => command));
          if (patch.password !== null) await sessions.closeOlder(id, position);
          return position;
        });
      // Root may edit root: a stolen session must not take this way to what it is refused at its own profile.
      const edited = await (id === actor.id ? demandForOwn(actor, patch, asking, edit) : edit());
      if (balance === null) return edited;
      const content = JSON.stringify(['set quota', id, balance, shown]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        const adjusting = async (seen: Position): Promise<UserCommand> => {
          await mustReach(tail, seen);
          const observed = await gate.available(id);
          const delta = minus(balance, before ?? observed);
          plusQuota(observed, delta); // refuses a result beyond the largest safe integer
          return { type: 'AdjustQuota', by: actor, delta, gift: zero, observed };
        };
        const { position } = await run(id, adjusting, mark(streams.user(id)));
        return position;
      });
    },

    async manage(actor: Actor, id: UserId, action: UserAction): Promise<Position> {
      authorise(actor, 'admin');
      const types = {
        enable: 'EnableUser',
        disable: 'DisableUser',
        delete: 'DeleteUser',
        promote: 'PromoteUser',
        demote: 'DemoteUser',
      } as const;
      const { position } = await run(id, { type: types[action], by: actor });
      // What a disabled user had opened stays, for telling why it is over.
      if (action === 'disable') await sessions.endOlder(id, position);
      if (action === 'delete') await sessions.closeOlder(id, position);
      if (action === 'delete') await personal.forget([id]);
      return position;
    },

    /** `key`: the client's name for this order; a repeat changes nothing. */
    async adjustQuota(
      actor: Actor,
      id: UserId,
      delta: number,
      gift: number,
      key: string | null = null,
    ): Promise<Position> {
      authorise(actor, 'admin');
      const total = plusQuota(enteredQuota('delta', delta), enteredQuota('gift', gift));
      const content = JSON.stringify(['adjust quota', id, delta, gift]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        const adjusting = async (): Promise<UserCommand> => {
          const observed = await gate.available(id);
          plusQuota(observed, total); // refuses a result beyond the largest safe integer
          return { type: 'AdjustQuota', by: actor, delta: total, gift: Quota(gift), observed };
        };
        const { position } = await run(id, adjusting, mark(streams.user(id)));
        return position;
      });
    },

    /**
     * A new password ends every session and the access token, of whoever made the change too. Throws `step-up-needed`
     * for a password, and for another name, which one signs in with.
     */
    async changeOwnProfile(
      actor: Actor,
      patch: { username: string | null; password: string | null; displayName: string | null },
      asking: SessionProof = nothingShown,
    ): Promise<Position> {
      checkProfile(patch);
      const change = () =>
        renaming(actor.id, patch.username, async (prepare) => {
          const command: UserCommand = {
            type: 'ChangeProfile',
            username: patch.username,
            displayName: patch.displayName === null ? null : await personal.seal(actor.id, patch.displayName),
            passwordSecret: await storedPassword(patch.password),
          };
          const { position } = await run(actor.id, () => prepare().then(() => command));
          if (patch.password !== null) await sessions.closeOlder(actor.id, position);
          return position;
        });
      return demandForOwn(actor, patch, asking, change);
    },

    /**
     * A new personal access token; the former one stops working. The only time it can be read. Throws `step-up-needed`.
     */
    async issueAccessToken(
      actor: Actor,
      asking: SessionProof = nothingShown,
    ): Promise<{ token: string; position: Position }> {
      return stepUps.demand(actor, 'access-token', asking, async () => {
        const token = randomBytes(24).toString('base64');
        const { position } = await run(actor.id, { type: 'IssueAccessToken', tokenHash: vault.hash(token) });
        return { token, position };
      });
    },
  };
}

export type UserCommands = ReturnType<typeof userCommands>;
