import { checkApiKey, checkNotBanned, findApiKey } from '../admission/authenticate.js';
import { type AuthenticatedCall, type CallContext, extended, type LimitedCall } from './call-context.js';
import type { StagePorts } from './stage-ports.js';

type AuthenticatePorts = Pick<StagePorts, 'directory' | 'gate' | 'vault' | 'clock' | 'wrongKeys' | 'apiKeyStatus'>;

/** Whose call it is, whether or not they may call. Throws RelayError, when nobody knows the key. */
export async function identifyCall(ports: AuthenticatePorts, call: CallContext): Promise<CallContext> {
  const { inPerson } = call.incoming;
  return inPerson === undefined
    ? extended(call, { apiKey: await findApiKey(ports, call.incoming) })
    : extended(call, { user: inPerson });
}

/** Whether who calls may. Throws RelayError. */
export async function authenticateCall(ports: AuthenticatePorts, call: CallContext): Promise<AuthenticatedCall> {
  const { incoming, apiKey, user } = call;
  if (apiKey !== null) return extended(call, await checkApiKey(ports, incoming, apiKey));
  if (user === null) throw new Error('a call of nobody');
  checkNotBanned(user);
  return extended(call, { user });
}

/**
 * Takes the call's places in the limits of its user and key, and for what is held of its answer; `leaveLimits` gives
 * them back. Throws RelayError 429.
 */
export async function enterLimits(
  { directory, limits, answers }: Pick<StagePorts, 'directory' | 'limits' | 'answers'>,
  call: AuthenticatedCall,
): Promise<LimitedCall> {
  const { user, apiKey } = call;
  const leave = await limits.admit(user.id, apiKey?.id ?? null, directory.settings());
  return extended(call, { admission: { leave, answerSlot: answers.newSlot(user.id) } });
}

export function leaveLimits({ admission }: LimitedCall, succeeded: boolean): void {
  admission.answerSlot.leave();
  admission.leave(succeeded);
}
