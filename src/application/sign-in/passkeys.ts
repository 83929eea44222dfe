import { randomBytes } from 'node:crypto';
import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { checkAnswer, factorsDecider, type Passkey } from '../../domain/user/second-factor.js';
import type { Handle } from '../handle.js';
import type { FactorSource, PasskeyChecks, Site } from '../ports/proof-ports.js';
import type { Directory, EventStore, PersonalData, Tickets, Vault } from '../ports/storage-ports.js';

/*
 * WebAuthn ceremonies. A challenge is worth one answer, for the purpose and the site it was issued for: an answer to
 * another challenge is refused, however right.
 */

interface PasskeyPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
  readonly checks: PasskeyChecks;
  readonly tickets: Tickets;
  readonly factors: FactorSource;
  readonly personal: Pick<PersonalData, 'open' | 'openAll'>;
  readonly vault: Pick<Vault, 'hash'>;
  readonly directory: Pick<Directory, 'settings'>;
  readonly warn: (facts: object, message: string) => void;
}

interface PasskeyRequest {
  /** What is to be done with the answer, and for whom. */
  readonly about: string;
  /** Whose passkeys will do; null: anybody's, and the answer says whose. */
  readonly user: UserId | null;
  /** The authenticator must know its user, by finger, face or code. */
  readonly verified: boolean;
}

/** `passkey`: keyed hash of the credential id. */
type NewPasskey = Omit<Passkey, 'credential' | 'name'> & { readonly passkey: string; readonly credential: string };

const lifetimeMs = 5 * 60_000;

const refused = (): Failure => new Failure('passkey-refused');

const hashOf = ({ vault }: PasskeyPorts, credential: string): string => vault.hash(`passkey ${credential}`);

async function issueChallenge({ tickets }: PasskeyPorts, about: string, { origin }: Site): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  await tickets.issue('passkey-challenge', challenge, { code: about, content: origin, lifetimeMs, tries: 1 });
  return challenge;
}

/** Uses up the challenge that was answered. Throws `passkey-refused`. */
async function redeemChallenge(
  { checks, tickets }: PasskeyPorts,
  about: string,
  response: string,
): Promise<{ readonly site: Site; readonly challenge: string; readonly credential: string }> {
  checkAnswer('response', response);
  const claimed = checks.claimOf(response);
  const origin = claimed === null ? null : await tickets.redeem('passkey-challenge', claimed.challenge, about);
  if (claimed === null || origin === null) throw refused();
  return { ...claimed, site: { origin } };
}

/** From the log: a passkey that was made a moment ago signs its user in. */
async function ownerOf({ store }: PasskeyPorts, passkey: string): Promise<UserId | null> {
  const [claimed] = await store.readStream(streams.passkey(passkey));
  return claimed?.event.type === 'IdentityClaimed' ? claimed.event.userId : null;
}

async function credentialsOf({ factors, personal }: PasskeyPorts, user: UserId) {
  const passkeys = [...(await factors.of(user)).factors.passkeys.values()];
  const credentials = await personal.openAll(passkeys.map(({ credential }) => ({ user, sealed: credential })));
  return passkeys.flatMap(({ transports }, index) => {
    const credential = credentials[index] ?? null;
    return credential === null ? [] : [{ credential, transports }];
  });
}

/** Throws `passkey-not-found`. */
async function authenticationOptions(
  ports: PasskeyPorts,
  { about, user, verified }: PasskeyRequest,
  site: Site,
): Promise<string> {
  const known = user === null ? [] : await credentialsOf(ports, user);
  if (user !== null && known.length === 0) throw new Failure('passkey-not-found');
  const challenge = await issueChallenge(ports, about, site);
  return ports.checks.authenticationOptions({ site, challenge, known, verified });
}

/** Counts the use of the passkey; its counter detects a copy. */
async function recordUse({ handle, warn }: PasskeyPorts, owner: UserId, passkey: string, counter: number) {
  try {
    await handle(factorsDecider, streams.factors(owner), { type: 'UsePasskey', passkey, counter });
  } catch (error) {
    if (error instanceof Failure && error.code === 'passkey-counter-behind')
      warn({ user: owner }, 'a passkey counts fewer uses than are known: it may have been copied, and was refused');
    throw error;
  }
}

async function authenticate(
  ports: PasskeyPorts,
  { about, user, verified }: PasskeyRequest,
  response: string,
): Promise<UserId> {
  const { site, challenge, credential } = await redeemChallenge(ports, about, response);
  const passkey = hashOf(ports, credential);
  const owner = await ownerOf(ports, passkey);
  if (owner === null || (user !== null && owner !== user)) throw refused();
  const known = (await ports.factors.of(owner)).factors.passkeys.get(passkey);
  if (known === undefined) throw refused();
  const { publicKey } = known;
  const right = await ports.checks.verifyAuthentication({ site, challenge, response, publicKey, verified });
  if (right === null) throw refused();
  await recordUse(ports, owner, passkey, right.counter);
  return owner;
}

async function registrationOptions(
  ports: PasskeyPorts,
  about: string,
  user: { readonly id: UserId; readonly name: string },
  site: Site,
): Promise<string> {
  const { checks, vault, directory } = ports;
  const known = await credentialsOf(ports, user.id);
  // Authenticators keep it and show it to nobody; it must be the same for all passkeys of a user.
  const handle = Buffer.from(vault.hash(`user handle ${user.id}`), 'hex').toString('base64url');
  return checks.registrationOptions({
    site,
    systemName: directory.settings().text('SystemName'),
    challenge: await issueChallenge(ports, about, site),
    user: { name: user.name, handle },
    known: known.map(({ credential }) => credential),
  });
}

async function verifyRegistration(ports: PasskeyPorts, about: string, response: string): Promise<NewPasskey> {
  const { site, challenge } = await redeemChallenge(ports, about, response);
  const made = await ports.checks.verifyRegistration({ site, challenge, response });
  if (made === null) throw refused();
  return { ...made, passkey: hashOf(ports, made.credential) };
}

export interface PasskeyCeremonies {
  /** JSON for the browser. Throws `passkey-not-found` where the user has none. */
  authenticationOptions(request: PasskeyRequest, site: Site): Promise<string>;
  /** Who has answered. Throws `passkey-refused`, or `passkey-counter-behind` for what may be a copy. */
  authenticate(request: PasskeyRequest, response: string): Promise<UserId>;
  /** JSON for the browser. */
  registrationOptions(about: string, user: { readonly id: UserId; readonly name: string }, site: Site): Promise<string>;
  /** Throws `passkey-refused`. */
  verifyRegistration(about: string, response: string): Promise<NewPasskey>;
}

export const passkeyCeremonies = (ports: PasskeyPorts): PasskeyCeremonies => ({
  authenticationOptions: authenticationOptions.bind(null, ports),
  authenticate: authenticate.bind(null, ports),
  registrationOptions: registrationOptions.bind(null, ports),
  verifyRegistration: verifyRegistration.bind(null, ports),
});
