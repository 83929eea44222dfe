import { answerIdOf } from '../../domain/call/call-texts.js';
import type { CallInfo } from '../contracts/protocol.js';
import type { JsonValue } from '../json/json.js';

/* By which a provider names its answer: kept with the call, for whoever looks it up in what the provider lists. */

/** undefined: by nothing, or the name was made here, out of that of the call. */
export function reportedAnswerId(id: JsonValue | undefined, { callId }: CallInfo): string | undefined {
  const reported = answerIdOf(id);
  return reported?.includes(callId) ? undefined : reported;
}
