import type { IncomingMessage } from 'node:http';
import { type AuthCheckerFn, createParameterDecorator } from 'type-graphql';
import type { Application } from '../../application/application.js';
import { authorise, type Needed } from '../../application/authorise.js';
import type { Site } from '../../application/ports/proof-ports.js';
import type { Client, UserView } from '../../application/ports/storage-ports.js';
import type { Visitor } from '../../application/sign-in/human-checks.js';
import { batched } from '../../concurrency/batched.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import type { BodyRoom } from '../../http/body-room.js';
import { sessionTokenIn } from '../../http/session-cookie.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import type { UserRow } from '../../projections/models/users.js';
import type { TokenBuckets } from '../../rate-limit/token-bucket.js';
import { type ErrorLog, RequestRefused } from './errors.js';
import type { OperationLimits } from './limits.js';

/** What the face is given, once per process. */
export interface GraphqlOptions {
  readonly application: Application;
  /** Every channel type the console offers. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly bodyRoom: BodyRoom;
  readonly limits: OperationLimits;
  /** What a caller may ask for, all operations together. */
  readonly work: TokenBuckets;
  /** The client behind a request that is not the web framework's; forwarding headers are believed as everywhere. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Anyone may ask for the schema; otherwise only who is signed in. */
  readonly openIntrospection: boolean;
  /** Whether one more attempt to sign in is allowed from this address; counts it. */
  readonly allowAttempt: (clientAddress: string) => boolean;
  readonly origins: {
    /** A browser asks on behalf of a page that is not ours. */
    isForeign(request: IncomingMessage): boolean;
    /** The site of ours that the page is of which asks; null: none it names. */
    ownSite(request: IncomingMessage): Site | null;
  };
  readonly log: ErrorLog;
}

export type SessionCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'session'; readonly token: string }
  | { readonly kind: 'access-token'; readonly token: string };

/** An access token somebody took the trouble to send beats the cookie a browser adds by itself. */
export function sessionCredentialsIn(authorization: unknown, cookies: string | undefined): SessionCredentials {
  const [, accessToken] = typeof authorization === 'string' ? (/^Bearer +(\S+) *$/i.exec(authorization) ?? []) : [];
  if (accessToken !== undefined) return { kind: 'access-token', token: accessToken };
  const session = sessionTokenIn(cookies);
  return session === null ? { kind: 'none' } : { kind: 'session', token: session };
}

/** The user as stored now, disabled ones included; null: nobody, or no longer. */
export async function identify(
  { identity }: Pick<Application, 'identity'>,
  credentials: SessionCredentials,
): Promise<UserView | null> {
  switch (credentials.kind) {
    case 'none':
      return null;
    case 'session':
      return identity.bySession(credentials.token);
    case 'access-token':
      return identity.byAccessToken(credentials.token);
  }
}

/** The same, with what is written down of an administrator's orders. */
export async function identifyFrom(
  application: Pick<Application, 'identity'>,
  credentials: SessionCredentials,
  address: string,
): Promise<(UserView & Pick<Actor, 'askedFrom'>) | null> {
  const user = await identify(application, credentials);
  const { kind } = credentials;
  return user === null || kind === 'none'
    ? user
    : { ...user, askedFrom: { face: 'graphql', credential: kind, address } };
}

export interface GraphqlCaller {
  readonly credentials: SessionCredentials;
  /** As the user is at this moment, disabled ones included; null: nobody. */
  identified(): Promise<UserView | null>;
}

/** Throws `not-signed-in`, `access-token-unknown` or `user-disabled`. */
export async function signedIn(caller: GraphqlCaller): Promise<UserView> {
  const user = await caller.identified();
  if (user === null)
    throw new Failure(caller.credentials.kind === 'access-token' ? 'access-token-unknown' : 'not-signed-in');
  if (user.status !== 'enabled') throw new Failure('user-disabled');
  return user;
}

/** Who looks at what everybody may see: null is nobody, and whoever is signed in no longer is. */
export async function onlooker(caller: GraphqlCaller): Promise<UserView | null> {
  const user = await caller.identified();
  return user?.status === 'enabled' ? user : null;
}

/** What an answer over HTTP can do besides: the other end is a browser, or acts like one. */
export interface Browser {
  readonly address: string;
  readonly client: Client;
  /** Of ours that the page is of which asks, for passkeys; null: none it names. */
  readonly site: Site | null;
  /** Of the page that asks, which is ours; null: who asks is no browser. */
  readonly origin: string | null;
  /** The ticket of a sign-in that waits for its second factor; null: there is none. */
  readonly pendingSignIn: string | null;
  /** By what it is known again, whoever has signed in with it. */
  readonly visitor: Visitor;
  /** Sets the cookie; from here on the operation runs as this user. */
  signIn(user: UserView, token: string): void;
  /** Sets the cookie of a sign-in that waits for its second factor. */
  waitForSecondFactor(ticket: string): void;
  /** Clears the cookies; from here on the operation runs as nobody. */
  signOut(): void;
}

/** What every resolver gets. */
export interface GraphqlContext extends Pick<GraphqlOptions, 'application' | 'version' | 'startedAt'> {
  readonly caller: GraphqlCaller;
  /** The client's, as far as it can be known. */
  readonly address: string;
  readonly allowAttempt: GraphqlOptions['allowAttempt'];
  /** null over WebSocket, where nothing but subscriptions is served. */
  readonly browser: Browser | null;
  /** Users by id, for showing them beside rows; for administrators. */
  readonly userById: (id: UserId) => Promise<UserRow | null>;
  /** Proxy addresses of channels, passwords included; for administrators. */
  readonly channelProxy: (channel: ChannelRow) => Promise<string | null>;
  /** Why the last test of a channel failed; null: it did not. For administrators. */
  readonly channelTestError: (id: ChannelId) => Promise<string | null>;
}

export function contextFor(
  options: GraphqlOptions,
  caller: GraphqlCaller,
  address: string,
  browser: Browser | null,
): GraphqlContext {
  const { application, version, startedAt, allowAttempt } = options;
  return {
    application,
    version,
    startedAt,
    caller,
    address,
    allowAttempt,
    browser,
    userById: batched(async (ids) => {
      const users = await application.queries.usersById(await signedIn(caller), ids);
      return new Map(users.map((user) => [user.id, user]));
    }),
    channelProxy: batched(async (channels) => {
      const proxies = await application.queries.channelProxies(await signedIn(caller), channels);
      return new Map(channels.map((channel) => [channel, proxies.get(channel.id) ?? '']));
    }),
    channelTestError: batched(async (ids) => application.queries.channelTestErrors(await signedIn(caller), ids)),
  };
}

/** Throws `only-subscriptions-here`. */
export function overHttp({ browser }: GraphqlContext): Browser {
  if (browser === null) throw new RequestRefused('only-subscriptions-here');
  return browser;
}

/** The browser of somebody who tries a password; counts the attempt. Throws `too-many-attempts`. */
export function attempting(context: GraphqlContext): Browser {
  const browser = overHttp(context);
  const { allowAttempt } = context;
  if (!allowAttempt(browser.address)) throw new RequestRefused('too-many-attempts');
  return browser;
}

/** The same for operations that check for a human, where the operator wants it. */
export async function attemptingAsHuman(context: GraphqlContext, answer: string | null | undefined): Promise<Browser> {
  const browser = attempting(context);
  await context.application.humanChecks.demand(browser.visitor, answer ?? '');
  return browser;
}

/**
 * `@Authorized()`: whoever is signed in; `@Authorized('admin')`: from that role up; `@Authorized('admin-reading')`: auditors
 * as well. Asked anew for every field.
 */
export const authChecker: AuthCheckerFn<GraphqlContext, Needed> = async ({ context }, roles) => {
  const viewer = await signedIn(context.caller);
  for (const role of roles) authorise(viewer, role);
  return true;
};

/** The signed-in user as a resolver's parameter: a resolver that takes one cannot run without. */
export const Viewer = () => createParameterDecorator<GraphqlContext>(({ context }) => signedIn(context.caller));
