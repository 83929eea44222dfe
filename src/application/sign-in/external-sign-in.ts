import { randomBytes } from 'node:crypto';
import type { Position } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import type { IdentityProvider, VisitedProvider } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ExternalProfile, IdentityProviders, TelegramSignIn } from '../ports/identity-provider-ports.js';
import type { Client, Tickets, UserView } from '../ports/storage-ports.js';
import type { SessionProof } from '../session-proof.js';
import { type Entered, type ExternalEntryPorts, enterExternally } from './external-entry.js';
import { inviteCodeBound, issueState, redeemState, type StateRequest } from './sign-in-state.js';
import type { StepUps } from './step-up.js';

/*
 * Signing in by an identity provider, and binding an account there. A stolen session must neither bind an account of the
 * thief's nor unbind one: both need a step-up.
 */

interface ExternalSignInPorts extends ExternalEntryPorts {
  readonly identityProviders: IdentityProviders;
  /** Switched on, and with everything it needs. */
  readonly isOpen: (provider: IdentityProvider) => boolean;
  readonly tickets: Pick<Tickets, 'issue' | 'redeem' | 'spend'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

/** Where a browser is sent to. */
interface AuthorizationRequest extends StateRequest {
  readonly provider: VisitedProvider;
  /** The origin it comes back to. */
  readonly site: string;
}

/** What a browser brings back. */
interface Callback {
  readonly code: string;
  readonly state: string;
  /** null: the browser has no visitor's cookie, so nothing was begun in it. */
  readonly visitor: string | null;
  readonly viewer: UserView | null;
  /** With what the viewer binds, where nothing was proven at the beginning. */
  readonly sessionProof: SessionProof;
  readonly client: Client;
  /** Where a client that made the provider's address itself had the browser sent back to. */
  readonly redirectUri: string | null;
}

export interface Bound {
  readonly kind: 'bound';
  readonly viewer: UserView;
  readonly position: Position;
}

/** Longer than a signature of Telegram's is good for, whatever its clock says. */
const signatureKeptMs = 15 * 60_000;
/** Codes of providers are long at some, and never longer. */
const maxCodeLength = 4096;
const maxSignedLength = 1024;

const secretText = (): string => randomBytes(32).toString('base64url');

function checkOpen({ isOpen }: ExternalSignInPorts, provider: IdentityProvider): void {
  if (!isOpen(provider)) throw new Failure('provider-off', { provider });
}

const checkCode = (code: string): void => checkText('code', code, { max: maxCodeLength });

function checkWeChat(ports: ExternalSignInPorts, code: string): void {
  checkCode(code);
  checkOpen(ports, 'wechat');
  if (code === '') throw new Failure('sign-in-code-missing', { provider: 'wechat' });
}

function checkTelegram(ports: ExternalSignInPorts, signed: TelegramSignIn): void {
  for (const [name, text] of Object.entries(signed))
    if (text !== undefined) checkText(name, text, { max: maxSignedLength });
  checkOpen(ports, 'telegram');
}

/** Before anything that is good once is used up. */
const demandBinding = <Result>(
  { stepUps }: ExternalSignInPorts,
  viewer: UserView,
  sessionProof: SessionProof,
  order: () => Promise<Result>,
): Promise<Result> => stepUps.demand(viewer, 'bindings', sessionProof, order);

const bind = (
  { users }: ExternalSignInPorts,
  viewer: UserView,
  provider: IdentityProvider,
  { subject, shown }: Pick<ExternalProfile, 'subject' | 'shown'>,
): Promise<Position> => users.bindings.link(viewer.id, { provider, subject, shown });

/**
 * Where to send the browser. `sessionProof`: for binding. Throws `provider-off`, `step-up-needed`,
 * `provider-unreachable`.
 */
async function authorizationAddress(
  ports: ExternalSignInPorts,
  { provider, site, ...request }: AuthorizationRequest,
  sessionProof: SessionProof,
): Promise<string> {
  checkText('inviteCode', request.inviteCode, inviteCodeBound);
  checkOpen(ports, provider);
  const trip = {
    provider,
    redirectUri: `${site}/oauth/${provider}`,
    verifier: secretText(),
    nonce: provider === 'oidc' ? secretText() : null,
  };
  const begun = async () =>
    ports.identityProviders.authoriseAddress(provider, await issueState(ports, request, trip), trip);
  return request.binding === null ? begun() : demandBinding(ports, request.binding, sessionProof, begun);
}

/**
 * Throws `sign-in-state-wrong`, `provider-off`, `sign-in-code-missing`, `step-up-needed`, what the provider throws, and
 * then what signing in, registering or binding does.
 */
async function callback(
  ports: ExternalSignInPorts,
  provider: VisitedProvider,
  back: Callback,
): Promise<Bound | Entered> {
  checkCode(back.code);
  const { trip, binding, inviteCode } = await redeemState(ports, provider, back);
  checkOpen(ports, provider);
  if (back.code === '') throw new Failure('sign-in-code-missing', { provider });
  const binder = binding === null ? null : back.viewer;
  const own = trip ?? { redirectUri: back.redirectUri, verifier: null, nonce: null };
  const vouched = () => ports.identityProviders.byCode(provider, back.code, own);
  if (binder === null) return enterExternally(ports, { provider, profile: await vouched(), inviteCode }, back.client);
  const bound = async () => bind(ports, binder, provider, await vouched());
  // Who left with an address of ours has proven it then; nobody asked who has made the address alone.
  const position = await (trip === null ? demandBinding(ports, binder, back.sessionProof, bound) : bound());
  return { kind: 'bound', viewer: binder, position };
}

/** Throws `telegram-signature-wrong` for one that was used too. */
async function spendTelegram(
  { identityProviders, tickets }: ExternalSignInPorts,
  signed: TelegramSignIn,
): Promise<Pick<ExternalProfile, 'subject' | 'shown'>> {
  const profile = await identityProviders.byTelegram(signed);
  if (!(await tickets.spend('telegram-sign-in', signed.hash, signatureKeptMs)))
    throw new Failure('telegram-signature-wrong');
  return profile;
}

async function enterByWeChat(ports: ExternalSignInPorts, code: string, client: Client): Promise<Entered> {
  checkWeChat(ports, code);
  const profile = await ports.identityProviders.byWeChat(code);
  return enterExternally(ports, { provider: 'wechat', profile, inviteCode: '' }, client);
}

/** Telegram lets nobody register. Throws `telegram-not-bound`. */
async function enterByTelegram(ports: ExternalSignInPorts, signed: TelegramSignIn, client: Client): Promise<Entered> {
  checkTelegram(ports, signed);
  const { subject } = await spendTelegram(ports, signed);
  const known = await ports.users.bindings.identityHolder('telegram', subject);
  if (known === null) throw new Failure('telegram-not-bound');
  return { kind: 'entered', entry: await ports.identity.enter(known, client), position: null };
}

/** Throws `step-up-needed`. */
async function bindWeChat(
  ports: ExternalSignInPorts,
  viewer: UserView,
  code: string,
  sessionProof: SessionProof,
): Promise<Position> {
  checkWeChat(ports, code);
  return demandBinding(ports, viewer, sessionProof, async () =>
    bind(ports, viewer, 'wechat', await ports.identityProviders.byWeChat(code)),
  );
}

/** Throws `step-up-needed`. */
async function bindTelegram(
  ports: ExternalSignInPorts,
  viewer: UserView,
  signed: TelegramSignIn,
  sessionProof: SessionProof,
): Promise<Position> {
  checkTelegram(ports, signed);
  return demandBinding(ports, viewer, sessionProof, async () =>
    bind(ports, viewer, 'telegram', await spendTelegram(ports, signed)),
  );
}

/** Throws `step-up-needed`, `last-door`. */
async function unbind(
  ports: ExternalSignInPorts,
  viewer: UserView,
  provider: IdentityProvider,
  sessionProof: SessionProof,
): Promise<Position> {
  return demandBinding(ports, viewer, sessionProof, () => ports.users.bindings.unlink(viewer.id, provider));
}

export function externalSignIn(given: Omit<ExternalSignInPorts, 'registrations'>) {
  const ports: ExternalSignInPorts = { ...given, registrations: new Map() };
  return {
    /** A state for a client that makes the provider's address itself. */
    newState: (request: StateRequest): Promise<string> => issueState(ports, request, null),
    authorizationAddress: authorizationAddress.bind(null, ports),
    callback: callback.bind(null, ports),
    enterByWeChat: enterByWeChat.bind(null, ports),
    enterByTelegram: enterByTelegram.bind(null, ports),
    bindWeChat: bindWeChat.bind(null, ports),
    bindTelegram: bindTelegram.bind(null, ports),
    unbind: unbind.bind(null, ports),
  };
}
