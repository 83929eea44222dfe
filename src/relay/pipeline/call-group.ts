import type { Settings } from '../../application/options/settings.js';
import type { Caller } from '../admission/authenticate.js';
import { RelayError, shortened } from '../contracts/errors.js';
import type { JsonObject } from '../json/json.js';

/* The group that a call is priced and routed by. Who calls in person names it in the body; an API key has its own. */

/** The group the call is priced and routed by. `named`: by a user who calls in person; a key has its own. */
export function usedGroup({ apiKey, user }: Caller, settings: Settings, named = ''): string {
  const wanted = apiKey === null ? named : apiKey.terms.group;
  if (wanted === '') return user.group;
  if (wanted !== user.group && !settings.usableGroups.has(wanted)) {
    const whose = apiKey === null ? 'the group' : "the token's group";
    throw new RelayError(403, 'group_not_allowed', `${whose} ${shortened(wanted)} is not permitted`);
  }
  if (!settings.prices.groupRatio.has(wanted))
    throw new RelayError(403, 'group_retired', `the group ${wanted} has been retired`);
  return wanted;
}

/** In a body from the playground: for the gateway, and for nobody upstream. */
export function groupIn({ group }: JsonObject): string {
  if (group === undefined || group === null) return '';
  if (typeof group === 'string') return group;
  throw new RelayError(400, 'invalid_request', 'invalid request: group must be a string', { param: 'group' });
}

/** The same where it is one of those there are; else '': names that callers invent are not kept. */
export const knownGroupIn = ({ apiKey }: Caller, { group }: JsonObject, { prices }: Settings): string =>
  apiKey === null && typeof group === 'string' && prices.groupRatio.has(group) ? group : '';

/** What of a body is for whoever serves the call. */
export function servedBody(caller: Caller, body: JsonObject): JsonObject {
  if (caller.apiKey !== null) return body;
  const { group: _, ...served } = body;
  return served;
}
