import type { Position } from '../../domain/events/events.js';
import type { IdentityProvider } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { checkUsername } from '../../domain/user/user-fields.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { ExternalProfile } from '../ports/identity-provider-ports.js';
import type { Client, Ids } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';
import type { UserCommands } from '../users/user-commands.js';
import type { Welcome } from '../users/welcome.js';
import type { Identity } from './identity.js';
import type { Entry } from './sign-in.js';

/* An account at an identity provider signs its user in, or registers one. */

export interface ExternalEntryPorts {
  readonly directory: Pick<NodeDirectory, 'settings'>;
  readonly ids: Pick<Ids, 'next'>;
  readonly users: Pick<UserCommands, 'register' | 'bindings' | 'invites'>;
  readonly identity: Pick<Identity, 'enter'>;
  /** What everybody is given who becomes a user, and what follows where somebody has invited them. */
  readonly welcome: (inviter: UserId | null) => Welcome;
  /** In-flight registrations by account: whoever comes twice at once waits for the user that the first one makes. */
  readonly registrations: Map<string, Promise<unknown>>;
}

export interface Entered {
  readonly kind: 'entered';
  readonly entry: Entry;
  /** Of the registration that it led to; null: the user was there. */
  readonly position: Position | null;
}

/** Somebody whom an identity provider has just vouched for. */
interface Vouched {
  readonly provider: IdentityProvider;
  readonly profile: ExternalProfile;
  readonly inviteCode: string;
}

/** Names tried for a newcomer before giving up: more than one is taken only where somebody takes them on purpose. */
const maxNames = 5;

const isFit = (username: string): boolean => {
  try {
    checkUsername(username);
    return true;
  } catch {
    return false;
  }
};

/** Under the name it would like, or one made of its id. An address that is somebody's already is left out. */
async function registerExternal(
  { directory, ids, users, welcome }: ExternalEntryPorts,
  { provider, profile, inviteCode }: Vouched,
): Promise<{ readonly id: UserId; readonly position: Position }> {
  if (!directory.settings().flag('RegisterEnabled')) throw new Failure('registration-closed');
  const { grants, inviter } = welcome(await users.invites.inviterBy(inviteCode));
  const id = UserId(await ids.next('user'));
  const plain = `${provider}_${id}`;
  const wished = profile.username !== null && isFit(profile.username) ? profile.username : plain;
  const newcomer = {
    id,
    displayName: profile.displayName,
    passwordSecret: null,
    role: 'ordinary',
    identity: { provider, subject: profile.subject, shown: profile.shown },
    inviter,
  } as const;
  let username = wished;
  let email = profile.email;
  for (let tried = 0; ; tried++) {
    try {
      return { id, position: await users.register({ ...newcomer, username, email }, grants) };
    } catch (error) {
      if (!(error instanceof Failure) || tried >= maxNames) throw error;
      if (error.code === 'email-taken') email = null;
      else if (error.code === 'username-taken')
        username = username === wished && wished !== plain ? plain : `${plain}_${randomText(4)}`;
      else throw error;
    }
  }
}

export async function enterExternally(ports: ExternalEntryPorts, vouched: Vouched, client: Client): Promise<Entered> {
  const { registrations, users, identity } = ports;
  const { provider, profile } = vouched;
  const account = JSON.stringify([provider, profile.subject]);
  await registrations.get(account)?.catch(() => {});
  const known = await users.bindings.identityHolder(provider, profile.subject);
  if (known !== null) return { kind: 'entered', entry: await identity.enter(known, client), position: null };
  if (registrations.has(account)) return enterExternally(ports, vouched, client);
  const registration = registerExternal(ports, vouched);
  registrations.set(account, registration);
  const { id, position } = await registration.finally(() => registrations.delete(account));
  return { kind: 'entered', entry: await identity.enter(id, client), position };
}
