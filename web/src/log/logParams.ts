import type { LogType, UsageLogFilterInput } from '../generated/log/log.js';
import { isQuickRange, type TimeRange, timeRangeOf } from './ranges.js';

/* What of the log is looked at, as it stands in the address. */

export const logDefaults = {
  /** A quick range, or `custom`: then `from` and `to` count. */
  range: 'today',
  /** Unix seconds; 0: open. */
  from: 0,
  to: 0,
  type: '',
  token: '',
  model: '',
  group: '',
  channel: '',
  user: '',
  request: '',
  /** Of calls that were refused or failed. */
  code: '',
};
export type LogParams = Readonly<typeof logDefaults>;

/** How many filters differ from what the page begins with. */
export const activeFilters = (params: LogParams): number =>
  (['range', 'type', 'token', 'model', 'group', 'channel', 'user', 'request', 'code'] as const).filter(
    (name) => params[name] !== logDefaults[name],
  ).length;

export const logTypes = ['RECHARGE', 'CONSUME', 'MANAGE', 'SYSTEM', 'ERROR'] as const satisfies readonly LogType[];
const isLogType = (text: string): text is LogType => logTypes.some((type) => type === text);

/** `now` gives quick ranges their place in time. */
export function rangeOf({ range, from, to }: LogParams, now: Date): TimeRange {
  if (range === 'custom') return { from, to: to === 0 ? null : to };
  return timeRangeOf(isQuickRange(range) ? range : 'today', now);
}

/** Only what filters is named: equal filters are equal to the cache. Spaces around what was typed say nothing. */
export function logFilterOf(params: LogParams, now: Date, admin: boolean): UsageLogFilterInput {
  const { from, to } = rangeOf(params, now);
  const [token, model, group, channel, user, request, code] = [
    params.token,
    params.model,
    params.group,
    params.channel,
    params.user,
    params.request,
    params.code,
  ].map((text) => text.trim());
  return {
    ...(from > 0 && { from }),
    ...(to !== null && { to }),
    ...(isLogType(params.type) && { type: params.type }),
    ...(token && { apiKeyName: token }),
    ...(model && { model }),
    ...(group && { group }),
    // A number is all a channel can be asked by; anything else would be refused.
    ...(admin && channel && /^\d+$/.test(channel) && { channelId: channel }),
    ...(admin && user && { username: user }),
    ...(request && { requestId: request }),
    ...(code && { code }),
  };
}

/** The same filter as a file of it is asked for. */
export function exportQueryOf(filter: UsageLogFilterInput, everyone: boolean, zone: string): Record<string, string> {
  const { type, username, apiKeyName, model, channelId, group, requestId, code, from, to } = filter;
  const asked = {
    type: type?.toLowerCase(),
    username,
    token: apiKeyName,
    model,
    channel: channelId,
    group,
    request: requestId,
    code,
    from: from?.toString(),
    to: to?.toString(),
    everyone: everyone ? 'true' : null,
    zone,
  };
  return Object.fromEntries(Object.entries(asked).flatMap(([name, value]) => (value ? [[name, value] as const] : [])));
}
