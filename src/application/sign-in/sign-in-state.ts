import { checkText } from '../../domain/kernel/bounds.js';
import type { VisitedProvider } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { SignInTrip } from '../ports/identity-provider-ports.js';
import type { Tickets, UserView } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';

/*
 * The OAuth state: whoever was sent to an identity provider must come back in the same browser, once and soon, for what
 * was begun.
 */

interface StatePorts {
  readonly tickets: Pick<Tickets, 'issue' | 'redeem'>;
}

/** What a browser begins, which is known again by its visitor's cookie. */
export interface StateRequest {
  readonly visitor: string;
  readonly inviteCode: string;
  /** Whose account is to be bound; null: somebody wants to sign in. */
  readonly binding: UserView | null;
}

/** What a state stands for. `trip` null: its client makes the provider's address itself, and whichever it likes. */
interface SignInState {
  readonly trip: (SignInTrip & { readonly provider: VisitedProvider }) | null;
  readonly inviteCode: string;
  readonly binding: number | null;
}

interface StateCallback {
  readonly state: string;
  /** null: the browser has no visitor's cookie, so nothing was begun in it. */
  readonly visitor: string | null;
  readonly viewer: UserView | null;
}

const stateLength = 12;
const stateLifetimeMs = 10 * 60_000;

export const inviteCodeBound = { max: 64 };

export async function issueState(
  { tickets }: StatePorts,
  { visitor, inviteCode, binding }: StateRequest,
  trip: SignInState['trip'],
): Promise<string> {
  checkText('inviteCode', inviteCode, inviteCodeBound);
  const state = randomText(stateLength);
  const content: SignInState = { trip, inviteCode, binding: binding?.id ?? null };
  await tickets.issue('oauth-state', state, {
    code: visitor,
    content: JSON.stringify(content),
    lifetimeMs: stateLifetimeMs,
    tries: 1,
  });
  return state;
}

/** Throws `sign-in-state-wrong`: used, too old, of another browser, or begun for something else. */
export async function redeemState(
  { tickets }: StatePorts,
  provider: VisitedProvider,
  { state, visitor, viewer }: StateCallback,
): Promise<SignInState> {
  checkText('state', state, { max: 256 });
  const content = state === '' || visitor === null ? null : await tickets.redeem('oauth-state', state, visitor);
  const begun = content === null ? null : (JSON.parse(content) as SignInState);
  const isForThis =
    begun !== null &&
    (begun.trip === null || begun.trip.provider === provider) &&
    (begun.binding === null || begun.binding === viewer?.id);
  if (!isForThis) throw new Failure('sign-in-state-wrong');
  return begun;
}
