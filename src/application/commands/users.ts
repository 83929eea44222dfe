import { randomBytes } from 'node:crypto';
import { type Position, streams } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import { type SecretId, UserId } from '../../domain/ids.js';
import { enteredQuota, minus, plus, Quota, zero } from '../../domain/quota.js';
import {
  type Actor,
  type GrantReason,
  type Role,
  type UserCommand,
  type UserEvent,
  userDecider,
} from '../../domain/user.js';
import {
  checkDisplayName,
  checkPassword,
  checkUsername,
  checkUserSettings,
  type UserSettings,
} from '../../domain/user-fields.js';
import { authorise } from '../authorise.js';
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
} from '../ports.js';
import { type Handle, type Observing, repeated } from './handle.js';
import type { OrderBook, OrderMark } from './order-mark.js';
import { usernames } from './usernames.js';

export interface UserCommandPorts {
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
  readonly once: OrderBook;
}

export interface NewUser {
  readonly username: string;
  readonly password: string;
  /** '' : the user name. */
  readonly displayName: string;
  readonly role?: Role;
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
  const { store, clock, handle, ids, vault, personal, passwords, sessions, directory, gate, tail, once } = ports;
  const names = usernames(store, clock, handle);

  const storedPassword = async (password: string | null): Promise<SecretId | null> =>
    password === null ? null : vault.put(await passwords.hash(password));

  const run = (id: UserId, command: UserCommand | Observing<UserCommand>, mark: OrderMark | null = null) =>
    handle(userDecider, streams.user(id), command, mark);

  const register = async (
    user: { id: UserId; username: string; displayName: string; passwordSecret: SecretId; role: Role },
    grants: readonly { quota: Quota; reason: GrantReason }[],
    mark: OrderMark | null = null,
  ): Promise<Position> => {
    const { id, username, displayName, passwordSecret, role } = user;
    await names.claim(username, id);
    const sealed = await personal.seal(id, displayName);
    const { position } = await run(
      id,
      {
        type: 'RegisterUser',
        username,
        displayName: sealed,
        email: null,
        role,
        group: 'default',
        passwordSecret,
        inviter: null,
        grants,
      },
      mark,
    );
    return position;
  };

  /** Claims the new name, lets `change` use it, gives the old one back; or undoes the claim. */
  const renaming = async (id: UserId, wanted: string | null, change: () => Promise<Position>): Promise<Position> => {
    const current = wanted === null ? null : await names.nameOf(id);
    if (wanted === null || current === null || wanted === current) return change();
    checkUsername(wanted);
    await names.claim(wanted, id);
    let position: Position;
    try {
      position = await change();
    } catch (error) {
      // Where this fails too, the claim is left unused and the next who wants the name takes it over.
      await names.release(wanted, id).catch(() => {});
      throw error;
    }
    await names.release(current, id);
    return position;
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

  return {
    /** Registers the user unless it exists; for set-up and its recovery. */
    register,

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
      return once({ actor: actor.id, key, content }, async ({ name, mark }) => {
        const id = UserId(await ids.allotted('user', name));
        const registering = mark(streams.user(id));
        const before = repeated<UserEvent>(
          await store.eventsNamed(streams.user(id), registering.idsBegin),
          registering,
        );
        if (before !== null) {
          await mustBePasswordOf(before.events, password, registering.key);
          return { id, position: before.position };
        }
        const passwordSecret = await vault.put(await passwords.hash(password));
        const grant = Quota(directory.settings().quotaForNewUser);
        const position = await register(
          { id, username, displayName: shown, passwordSecret, role },
          [{ quota: grant, reason: 'signup' }],
          registering,
        );
        return { id, position };
      });
    },

    /** `key`: the client's name for this order, for its balance. */
    async edit(actor: Actor, id: UserId, patch: UserPatch, key: string | null = null): Promise<Position> {
      authorise(actor, 'admin');
      checkProfile(patch);
      const { displayName, group, role } = patch;
      const balance = patch.quota === null ? null : enteredQuota('quota', patch.quota);
      const shown = typeof patch.shownQuota === 'number' ? enteredQuota('shownQuota', patch.shownQuota) : null;
      const before =
        shown ?? (typeof patch.readQuota === 'number' ? enteredQuota('shownQuota', patch.readQuota) : null);
      const change = async (): Promise<Position> => {
        const { position } = await run(id, {
          type: 'EditUser',
          by: actor,
          claimedRole: role,
          username: patch.username,
          displayName: displayName === null ? null : await personal.seal(id, displayName),
          group,
          passwordSecret: await storedPassword(patch.password),
        });
        if (patch.password !== null) await sessions.closeOlder(id, position);
        return position;
      };
      const edited = await renaming(id, patch.username, change);
      if (balance === null) return edited;
      const content = JSON.stringify(['set quota', id, balance, shown]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        const adjusting = async (seen: Position): Promise<UserCommand> => {
          await mustReach(tail, seen);
          const observed = await gate.available(id);
          const delta = minus(balance, before ?? observed);
          plus(observed, delta); // refuses a result beyond the largest safe integer
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
      const total = plus(enteredQuota('delta', delta), enteredQuota('gift', gift));
      const content = JSON.stringify(['adjust quota', id, delta, gift]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        const adjusting = async (): Promise<UserCommand> => {
          const observed = await gate.available(id);
          plus(observed, total); // refuses a result beyond the largest safe integer
          return { type: 'AdjustQuota', by: actor, delta: total, gift: Quota(gift), observed };
        };
        const { position } = await run(id, adjusting, mark(streams.user(id)));
        return position;
      });
    },

    /** A new password ends every session and the access token, of whoever made the change too. */
    async changeOwnProfile(
      actor: Actor,
      patch: { username: string | null; password: string | null; displayName: string | null },
    ): Promise<Position> {
      checkProfile(patch);
      return renaming(actor.id, patch.username, async () => {
        const { position } = await run(actor.id, {
          type: 'ChangeProfile',
          username: patch.username,
          displayName: patch.displayName === null ? null : await personal.seal(actor.id, patch.displayName),
          email: null,
          passwordSecret: await storedPassword(patch.password),
        });
        if (patch.password !== null) await sessions.closeOlder(actor.id, position);
        return position;
      });
    },

    /** A new personal access token; the former one stops working. The only time it can be read. */
    async issueAccessToken(actor: Actor): Promise<{ token: string; position: Position }> {
      const token = randomBytes(24).toString('base64');
      const { position } = await run(actor.id, { type: 'IssueAccessToken', tokenHash: vault.hash(token) });
      return { token, position };
    },

    async changeSettings(actor: Actor, settings: UserSettings): Promise<Position> {
      checkUserSettings(settings);
      const { notifyType, quotaWarningThreshold, webhookUrl, webhookSecret, notificationEmail } = settings;
      const stored = {
        notify_type: notifyType,
        quota_warning_threshold: quotaWarningThreshold,
        accept_unset_model_ratio_model: settings.acceptUnpricedModels,
        ...(notifyType === 'webhook' ? { webhook_url: webhookUrl } : {}),
        ...(notifyType === 'email' && notificationEmail !== '' ? { notification_email: notificationEmail } : {}),
      };
      const keepsSecret = notifyType === 'webhook' && webhookSecret !== '';
      const { position } = await run(actor.id, {
        type: 'ChangeSettings',
        settings: await personal.seal(actor.id, JSON.stringify(stored)),
        webhookSecret: keepsSecret ? await vault.put(webhookSecret) : null,
        acceptUnpricedModels: settings.acceptUnpricedModels,
        quotaWarningThreshold,
      });
      return position;
    },
  };
}

export type UserCommands = ReturnType<typeof userCommands>;
