import { streams } from '../../domain/events/events.js';
import type { SecretId, UserId } from '../../domain/kernel/ids.js';
import { type UserCommand, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { Handle, Handled, Observing, Run } from '../handle.js';
import type { IdempotencyMark, IdempotencyStore } from '../idempotency.js';
import type { Tail } from '../memory/tail.js';
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
import type { Bindings } from '../sign-in/bindings.js';
import type { StepUps } from '../sign-in/step-up.js';
import type { Claims } from './claims.js';
import type { InviteRewards } from './invite-rewards.js';
import type { Usernames } from './usernames.js';

/** What commands about users need from outside. */
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
  readonly once: IdempotencyStore;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

/** The same, with what is made of it once. */
export interface UserPorts extends UserCommandPorts {
  readonly claims: Claims;
  readonly names: Usernames;
  readonly bindings: Bindings;
  readonly inviteRewards: InviteRewards;
}

/** One command in the user's own stream; `handle` says in whose name. */
export const runUserCommand = (
  handle: Run,
  id: UserId,
  command: UserCommand | Observing<UserCommand>,
  mark: IdempotencyMark | null = null,
): Promise<Handled<UserEvent>> => handle(userDecider, streams.user(id), command, mark);

/** Where the vault keeps its hash; null: no password. */
export const storePassword = async (
  { vault, passwords }: Pick<UserPorts, 'vault' | 'passwords'>,
  password: string | null,
): Promise<SecretId | null> => (password === null ? null : vault.put(await passwords.hash(password)));
