import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { Quota } from '../../domain/kernel/quota.js';
import { optionDecider } from '../../domain/options/option.js';
import { type SetupEvent, setupDecider, type UsageMode } from '../../domain/user/setup.js';
import { checkTyped, checkUsername } from '../../domain/user/user-fields.js';
import type { Handle } from '../handle.js';
import type { EventStore, Ids, Passwords, Vault } from '../ports/storage-ports.js';
import type { UserCommands } from '../users/user-commands.js';
import type { SetupCode } from './setup-code.js';

/* The first run: options and the root user, once. */

interface SetupPorts {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly users: Pick<UserCommands, 'register'>;
  /** What whoever sets the gateway up must show; null: nothing. */
  readonly code: SetupCode | null;
}

export interface SetupInput {
  readonly username: string;
  readonly password: string;
  readonly confirmPassword: string;
  readonly mode: UsageMode;
}

const rootQuota = Quota(100_000_000);
const minPasswordBytes = 8;

/** null: not set up yet. */
async function completedSetup({ store }: Pick<SetupPorts, 'store'>): Promise<SetupEvent | null> {
  const event = (await store.readStream(streams.system)).find(({ event }) => event.type === 'SetupCompleted')?.event;
  return event?.type === 'SetupCompleted' ? event : null;
}

/** Everything that follows from the decision; safe to repeat, so a start after a crash finishes it. */
async function carryOut(
  { handle, users }: SetupPorts,
  { rootUserId, username, passwordSecret, mode }: SetupEvent,
): Promise<Position> {
  for (const [key, on] of [
    ['SelfUseModeEnabled', mode === 'self'],
    ['DemoSiteEnabled', mode === 'demo'],
  ] as const) {
    const value = { text: String(on) };
    await handle(optionDecider, streams.options, { type: 'ChangeOption', key, value, by: rootUserId });
  }
  return users.register({ id: rootUserId, username, displayName: 'Root User', passwordSecret, role: 'root' }, [
    { quota: rootQuota, reason: 'setup' },
  ]);
}

/** Once the root user exists, name and options are its own to change. */
async function finish(ports: SetupPorts, event: SetupEvent): Promise<void> {
  const root = await ports.store.readStream(streams.user(event.rootUserId));
  if (root.length === 0) await carryOut(ports, event);
}

async function completeSetup(
  ports: SetupPorts,
  { username, password, confirmPassword, mode }: SetupInput,
): Promise<Position> {
  const { handle, ids, vault, passwords } = ports;
  const before = await completedSetup(ports);
  if (before !== null) {
    // An earlier attempt may have failed half-way: nobody could sign in, and nobody could set up again.
    await finish(ports, before);
    throw new Failure('already-set-up');
  }
  checkUsername(username.trim());
  if (password !== confirmPassword) throw new Failure('passwords-differ', { field: 'confirmPassword' });
  checkTyped('password', password);
  if (Buffer.byteLength(password) < minPasswordBytes)
    throw new Failure('password-too-short', { field: 'password', min: minPasswordBytes });
  const { events } = await handle(setupDecider, streams.system, {
    type: 'CompleteSetup',
    rootUserId: UserId(await ids.next('user')),
    username: username.trim(),
    passwordSecret: await vault.put(await passwords.hash(password)),
    mode,
  });
  const [event] = events;
  if (event === undefined) throw new Failure('already-set-up');
  return carryOut(ports, event);
}

async function completeByRequest(ports: SetupPorts, input: SetupInput, given: string): Promise<Position> {
  const { code } = ports;
  if (code !== null && (await completedSetup(ports)) === null && !code.matches(given))
    throw new Failure('setup-code-wrong');
  return completeSetup(ports, input);
}

async function needsCode(ports: SetupPorts): Promise<boolean> {
  const { code } = ports;
  if (code === null || (await completedSetup(ports)) !== null) return false;
  code.announce();
  return true;
}

export const setupCommands = (ports: SetupPorts) => ({
  isDone: async (): Promise<boolean> => (await completedSetup(ports)) !== null,

  /** Whether setting up is still to be done and takes the code, which is then printed if it was not yet. */
  needsCode: (): Promise<boolean> => needsCode(ports),

  /** By the operator's own program, which needs no code. */
  complete: (input: SetupInput): Promise<Position> => completeSetup(ports, input),

  /** The same by a request, which may come from anywhere whatever it looks like. Throws `setup-code-wrong`. */
  completeByRequest: (input: SetupInput, code: string): Promise<Position> => completeByRequest(ports, input, code),

  /** Whom the first run has made root. Throws `user-not-found` before it. */
  async rootUser(): Promise<UserId> {
    const event = await completedSetup(ports);
    if (event === null) throw new Failure('user-not-found');
    return event.rootUserId;
  },

  /** At start: a node that died between the decision and the root user is made good. */
  async resume(): Promise<void> {
    const event = await completedSetup(ports);
    if (event !== null) await finish(ports, event);
  },
});
