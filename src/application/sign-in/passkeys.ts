import { randomBytes } from 'node:crypto';
import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { checkAnswer, factorsDecider, type Passkey } from '../../domain/user/second-factor.js';
import type { Handle } from '../handle.js';
import type { FactorSource, PasskeyChecks, Site } from '../ports/proof-ports.js';
import type { Directory, EventStore, PersonalData, Tickets, Vault } from '../ports/storage-ports.js';

/*
 * Asking authenticators, and believing them. A question holds a challenge that is worth one answer, for what was asked
 * about, at the site it was asked at: an answer to another question is none, however right.
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

const lifetimeMs = 5 * 60_000;

const refused = (): Failure => new Failure('passkey-refused');

interface PasskeyRequest {
  /** What is to be done with the answer, and for whom. */
  readonly about: string;
  /** Whose passkeys will do; null: anybody's, and the answer tells whose. */
  readonly user: UserId | null;
  /** The authenticator must know its user, by finger, face or code. */
  readonly verified: boolean;
}

export function passkeyCeremonies(ports: PasskeyPorts) {
  const { store, handle, checks, tickets, factors, personal, vault, directory, warn } = ports;

  const challengeFor = async (about: string, { origin }: Site): Promise<string> => {
    const challenge = randomBytes(32).toString('base64url');
    await tickets.issue('passkey-challenge', challenge, { code: about, content: origin, lifetimeMs, tries: 1 });
    return challenge;
  };

  /** Uses up the challenge that was answered. */
  const taken = async (
    about: string,
    response: string,
  ): Promise<{ readonly site: Site; readonly challenge: string; readonly credential: string }> => {
    checkAnswer('response', response);
    const told = checks.told(response);
    const origin = told === null ? null : await tickets.redeem('passkey-challenge', told.challenge, about);
    if (told === null || origin === null) throw refused();
    return { ...told, site: { origin } };
  };

  const nameOf = (credential: string): string => vault.hash(`passkey ${credential}`);

  /** From the log: a passkey that was made a moment ago opens the door. */
  const holderOf = async (passkey: string): Promise<UserId | null> => {
    const [claimed] = await store.readStream(streams.passkey(passkey));
    return claimed?.event.type === 'IdentityClaimed' ? claimed.event.userId : null;
  };

  const knownTo = async (user: UserId) => {
    const passkeys = [...(await factors.of(user)).factors.passkeys.values()];
    const credentials = await personal.openAll(passkeys.map(({ credential }) => ({ user, sealed: credential })));
    return passkeys.flatMap(({ transports }, index) => {
      const credential = credentials[index] ?? null;
      return credential === null ? [] : [{ credential, transports }];
    });
  };

  return {
    /** JSON for the browser. */
    async ask({ about, user, verified }: PasskeyRequest, site: Site): Promise<string> {
      const known = user === null ? [] : await knownTo(user);
      if (user !== null && known.length === 0) throw new Failure('passkey-not-found');
      return checks.question({ site, challenge: await challengeFor(about, site), known, verified });
    },

    /** Who has answered. Throws `passkey-refused`, or `passkey-counter-behind` for what may be a copy. */
    async answered({ about, user, verified }: PasskeyRequest, response: string): Promise<UserId> {
      const { site, challenge, credential } = await taken(about, response);
      const passkey = nameOf(credential);
      const owner = await holderOf(passkey);
      if (owner === null || (user !== null && owner !== user)) throw refused();
      const known = (await factors.of(owner)).factors.passkeys.get(passkey);
      if (known === undefined) throw refused();
      const right = await checks.check({ site, challenge, response, publicKey: known.publicKey, verified });
      if (right === null) throw refused();
      try {
        await handle(factorsDecider, streams.factors(owner), {
          type: 'UsePasskey',
          passkey,
          counter: right.counter,
        });
      } catch (error) {
        if (error instanceof Failure && error.code === 'passkey-counter-behind')
          warn({ user: owner }, 'a passkey counts fewer uses than are known: it may have been copied, and was refused');
        throw error;
      }
      return owner;
    },

    async askForNew(about: string, user: { id: UserId; name: string }, site: Site): Promise<string> {
      const known = await knownTo(user.id);
      // Told to authenticators, which show it to nobody; it must be the same for all passkeys of a user.
      const handleText = Buffer.from(vault.hash(`user handle ${user.id}`), 'hex').toString('base64url');
      return checks.questionForNew({
        site,
        systemName: directory.settings().text('SystemName'),
        challenge: await challengeFor(about, site),
        user: { name: user.name, handle: handleText },
        known: known.map(({ credential }) => credential),
      });
    },

    /** `name`: keyed hash of its credential id. Throws `passkey-refused`. */
    async answeredNew(
      about: string,
      response: string,
    ): Promise<Omit<Passkey, 'credential' | 'name'> & { readonly passkey: string; readonly credential: string }> {
      const { site, challenge } = await taken(about, response);
      const made = await checks.checkNew({ site, challenge, response });
      if (made === null) throw refused();
      return { ...made, passkey: nameOf(made.credential) };
    },
  };
}

export type PasskeyCeremonies = ReturnType<typeof passkeyCeremonies>;
