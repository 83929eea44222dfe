import { randomBytes } from 'node:crypto';
import type { Position } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import type { IdentityProvider, VisitedProvider } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import { UserId } from '../../domain/kernel/ids.js';
import { checkUsername } from '../../domain/user/user-fields.js';
import type { SessionProof } from '../asking.js';
import type { NodeDirectory } from '../memory/directory.js';
import type {
  ExternalProfile,
  IdentityProviders,
  SignInTrip,
  TelegramSignIn,
} from '../ports/identity-provider-ports.js';
import type { Client, Ids, Tickets, UserView } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';
import type { UserCommands } from '../users/user-commands.js';
import type { Welcome } from '../users/welcome.js';
import type { Entry, Identity } from './identity.js';
import type { StepUps } from './step-up.js';

/*
 * Coming in by an account elsewhere, and binding one. Whoever is sent to a provider must come back in the same browser,
 * once and soon, for what was begun: a state says so. What the account elsewhere opens is one user's. A stolen session
 * must neither bind a door of the thief's nor take one away: who has a second factor proves it anew for both.
 */

interface ElsewherePorts {
  readonly doors: IdentityProviders;
  /** Switched on, and with everything it needs. */
  readonly isOpen: (provider: IdentityProvider) => boolean;
  readonly tickets: Pick<Tickets, 'issue' | 'redeem' | 'spend'>;
  readonly directory: NodeDirectory;
  readonly ids: Pick<Ids, 'next'>;
  readonly users: Pick<UserCommands, 'register' | 'bindings' | 'invites'>;
  readonly identity: Pick<Identity, 'enter'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
  /** What everybody is given who becomes a user, and what follows where somebody has invited them. */
  readonly welcome: (inviter: UserId | null) => Welcome;
}

/** Of the browser that begins: it is known again by its visitor's cookie. */
interface Departure {
  readonly visitor: string;
  readonly inviteCode: string;
  /** Whose account is to be bound; null: somebody wants to come in. */
  readonly binding: UserView | null;
}

/** What a browser brings back. */
interface Return {
  readonly code: string;
  readonly state: string;
  /** null: the browser has no visitor's cookie, so nothing was begun in it. */
  readonly visitor: string | null;
  readonly viewer: UserView | null;
  /** With what the viewer binds, where nothing was proven at the beginning. */
  readonly asking: SessionProof;
  readonly client: Client;
  /** Where a client that made the provider's address itself had the browser sent back to. */
  readonly redirectUri: string | null;
}

export interface Bound {
  readonly kind: 'bound';
  readonly viewer: UserView;
  readonly position: Position;
}

export interface Entered {
  readonly kind: 'entered';
  readonly entry: Entry;
  /** Of the registration that it led to; null: the user was there. */
  readonly position: Position | null;
}

/** What a state stands for. `trip` null: its client makes the provider's address itself, and whichever it likes. */
interface Begun {
  readonly trip: (SignInTrip & { readonly provider: VisitedProvider }) | null;
  readonly inviteCode: string;
  readonly binding: number | null;
}

const stateLength = 12;
const stateLifetimeMs = 10 * 60_000;
/** Longer than a signature of Telegram's is good for, whatever its clock says. */
const signatureKeptMs = 15 * 60_000;
/** Names tried for a newcomer before it is given up: more than one is taken only where somebody takes them on purpose. */
const namesTried = 5;

/** Codes of providers are long at some, and never longer. */
const maxCodeLength = 4096;
const maxInviteCodeLength = { max: 64 };
const maxSigned = 1024;

const checkCode = (code: string): void => checkText('code', code, { max: maxCodeLength });

function checkSigned(given: TelegramSignIn): void {
  for (const [name, text] of Object.entries(given)) if (text !== undefined) checkText(name, text, { max: maxSigned });
}

const secretText = (): string => randomBytes(32).toString('base64url');

const isFit = (username: string): boolean => {
  try {
    checkUsername(username);
    return true;
  } catch {
    return false;
  }
};

export function externalSignIn({
  doors,
  isOpen,
  tickets,
  directory,
  ids,
  users,
  identity,
  stepUps,
  welcome,
}: ElsewherePorts) {
  const checkOpen = (provider: IdentityProvider): void => {
    if (!isOpen(provider)) throw new Failure('provider-off', { provider });
  };

  const begin = async ({ visitor, inviteCode, binding }: Departure, trip: Begun['trip']): Promise<string> => {
    checkText('inviteCode', inviteCode, maxInviteCodeLength);
    const state = randomText(stateLength);
    const begun: Begun = { trip, inviteCode, binding: binding?.id ?? null };
    const content = JSON.stringify(begun);
    await tickets.issue('oauth-state', state, { code: visitor, content, lifetimeMs: stateLifetimeMs, tries: 1 });
    return state;
  };

  /** Throws `sign-in-state-wrong`: used, too old, of another browser, or begun for something else. */
  const begunWith = async (provider: VisitedProvider, { state, visitor, viewer }: Return): Promise<Begun> => {
    checkText('state', state, { max: 256 });
    const content = state === '' || visitor === null ? null : await tickets.redeem('oauth-state', state, visitor);
    const begun = content === null ? null : (JSON.parse(content) as Begun);
    const isForThis =
      begun !== null &&
      (begun.trip === null || begun.trip.provider === provider) &&
      (begun.binding === null || begun.binding === viewer?.id);
    if (!isForThis) throw new Failure('sign-in-state-wrong');
    return begun;
  };

  /** Under the name it would like, or one made of its id. An address that is somebody's already is left out. */
  const register = async (
    provider: IdentityProvider,
    profile: ExternalProfile,
    inviteCode: string,
  ): Promise<{ readonly id: UserId; readonly position: Position }> => {
    const settings = directory.settings();
    if (!settings.flag('RegisterEnabled')) throw new Failure('registration-closed');
    const { grants, inviter } = welcome(await users.invites.inviterBy(inviteCode));
    const id = UserId(await ids.next('user'));
    const plain = `${provider}_${id}`;
    const wished = profile.username !== null && isFit(profile.username) ? profile.username : plain;
    let username = wished;
    let email = profile.email;
    for (let tried = 0; ; tried++) {
      try {
        const position = await users.register(
          {
            id,
            username,
            displayName: profile.displayName,
            passwordSecret: null,
            role: 'ordinary',
            email,
            identity: { provider, subject: profile.subject, shown: profile.shown },
            inviter,
          },
          grants,
        );
        return { id, position };
      } catch (error) {
        if (!(error instanceof Failure) || tried >= namesTried) throw error;
        if (error.code === 'email-taken') email = null;
        else if (error.code === 'username-taken')
          username = username === wished && wished !== plain ? plain : `${plain}_${randomText(4)}`;
        else throw error;
      }
    }
  };

  /** Registrations under way: whoever comes twice at once waits here for the user that the first coming makes. */
  const registering = new Map<string, Promise<unknown>>();

  const enter = async (
    provider: IdentityProvider,
    profile: ExternalProfile,
    client: Client,
    inviteCode = '',
  ): Promise<Entered> => {
    const who = JSON.stringify([provider, profile.subject]);
    await registering.get(who)?.catch(() => {});
    const known = await users.bindings.identityHolder(provider, profile.subject);
    if (known !== null) return { kind: 'entered', entry: await identity.enter(known, client), position: null };
    if (registering.has(who)) return enter(provider, profile, client, inviteCode);
    const registration = register(provider, profile, inviteCode);
    registering.set(who, registration);
    const { id, position } = await registration.finally(() => registering.delete(who));
    return { kind: 'entered', entry: await identity.enter(id, client), position };
  };

  const bind = async (
    viewer: UserView,
    provider: IdentityProvider,
    { subject, shown }: Pick<ExternalProfile, 'subject' | 'shown'>,
  ): Promise<Position> => users.bindings.link(viewer.id, { provider, subject, shown });

  /** Before anything that is good once is used up. */
  const demandBinding = <Result>(
    viewer: UserView,
    asking: SessionProof,
    order: () => Promise<Result>,
  ): Promise<Result> => stepUps.demand(viewer, 'bindings', asking, order);

  const checkTelegram = (given: TelegramSignIn): void => {
    checkSigned(given);
    checkOpen('telegram');
  };

  const byTelegram = async (given: TelegramSignIn): Promise<Pick<ExternalProfile, 'subject' | 'shown'>> => {
    const profile = await doors.byTelegram(given);
    if (!(await tickets.spend('telegram-sign-in', given.hash, signatureKeptMs)))
      throw new Failure('telegram-signature-wrong');
    return profile;
  };

  const checkWeChat = (code: string): void => {
    checkCode(code);
    checkOpen('wechat');
    if (code === '') throw new Failure('sign-in-code-missing', { provider: 'wechat' });
  };

  return {
    /** A state for a client that makes the provider's address itself. */
    newState: (departure: Departure): Promise<string> => begin(departure, null),

    /**
     * Where to send the browser. `site`: the origin it comes back to; `asking`: with what who is to be bound leaves. Throws
     * `provider-off`, `step-up-needed`, `provider-unreachable`.
     */
    async leave(provider: VisitedProvider, site: string, departure: Departure, asking: SessionProof): Promise<string> {
      checkText('inviteCode', departure.inviteCode, maxInviteCodeLength);
      checkOpen(provider);
      const trip = {
        provider,
        redirectUri: `${site}/oauth/${provider}`,
        verifier: secretText(),
        nonce: provider === 'oidc' ? secretText() : null,
      };
      const begun = async () => doors.authoriseAddress(provider, await begin(departure, trip), trip);
      return departure.binding === null ? begun() : demandBinding(departure.binding, asking, begun);
    },

    /**
     * Throws `sign-in-state-wrong`, `provider-off`, `sign-in-code-missing`, `step-up-needed`, what the provider's door
     * throws, and then what entering, registering or binding does.
     */
    async arrive(provider: VisitedProvider, back: Return): Promise<Bound | Entered> {
      checkCode(back.code);
      const { trip, binding, inviteCode } = await begunWith(provider, back);
      checkOpen(provider);
      if (back.code === '') throw new Failure('sign-in-code-missing', { provider });
      const binder = binding === null ? null : back.viewer;
      const own = trip ?? { redirectUri: back.redirectUri, verifier: null, nonce: null };
      const vouched = () => doors.byCode(provider, back.code, own);
      if (binder === null) return enter(provider, await vouched(), back.client, inviteCode);
      const bound = async () => bind(binder, provider, await vouched());
      // Who left with an address of ours has proven it then; nobody asked who has made the address alone.
      const position = await (trip === null ? demandBinding(binder, back.asking, bound) : bound());
      return { kind: 'bound', viewer: binder, position };
    },

    async arriveByWeChat(code: string, client: Client): Promise<Entered> {
      checkWeChat(code);
      return enter('wechat', await doors.byWeChat(code), client);
    },

    /** Throws `step-up-needed`. */
    async bindWeChat(viewer: UserView, code: string, asking: SessionProof): Promise<Position> {
      checkWeChat(code);
      return demandBinding(viewer, asking, async () => bind(viewer, 'wechat', await doors.byWeChat(code)));
    },

    /** Telegram lets nobody register. Throws `telegram-not-bound`. */
    async arriveByTelegram(given: TelegramSignIn, client: Client): Promise<Entered> {
      checkTelegram(given);
      const { subject } = await byTelegram(given);
      const known = await users.bindings.identityHolder('telegram', subject);
      if (known === null) throw new Failure('telegram-not-bound');
      return { kind: 'entered', entry: await identity.enter(known, client), position: null };
    },

    /** Throws `step-up-needed`. */
    async bindTelegram(viewer: UserView, given: TelegramSignIn, asking: SessionProof): Promise<Position> {
      checkTelegram(given);
      return demandBinding(viewer, asking, async () => bind(viewer, 'telegram', await byTelegram(given)));
    },

    /** Throws `step-up-needed`, `last-door`. */
    async unbind(viewer: UserView, provider: IdentityProvider, asking: SessionProof): Promise<Position> {
      return demandBinding(viewer, asking, () => users.bindings.unlink(viewer.id, provider));
    },
  };
}
