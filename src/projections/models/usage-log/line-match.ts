import { isLike } from '../../../domain/kernel/like.js';
import { checkedPattern } from '../../engine/page.js';
import { isPattern, type UsageLogFilter } from './usage-log-filter.js';
import type { UsageLogEntry } from './usage-log-queries.js';

/*
 * The filter of the usage log for a line that has been read already: what `matching` asks of the database, asked of one
 * line for each of many who follow the log.
 */

/** Throws `invalid-field` for a pattern that is not allowed. */
export function lineMatch(filter: UsageLogFilter): (line: UsageLogEntry) => boolean {
  const { type, userId, username, apiKeyId, apiKeyName, channelId, group, requestId, code, from, to } = filter;
  const isModel = modelMatch(filter.model);
  return (line) =>
    (type === undefined || line.type === type) &&
    (userId === undefined || line.user_id === userId) &&
    // A line whose user is gone has no name, and nobody is called nothing.
    (username === undefined || (username !== '' && line.username === username)) &&
    (apiKeyId === undefined || line.api_key_id === apiKeyId) &&
    (apiKeyName === undefined || line.api_key_name === apiKeyName) &&
    (isModel === null || isModel(line.model)) &&
    (channelId === undefined || line.channel_id === channelId) &&
    (group === undefined || line.group === group) &&
    (requestId === undefined || line.request_id === requestId) &&
    (code === undefined || codeOf(line) === code) &&
    (from === undefined || line.created_at >= from) &&
    (to === undefined || line.created_at <= to);
}

/** null: the line is about no failure. */
const codeOf = ({ detail }: UsageLogEntry): string | null => (detail !== null && 'code' in detail ? detail.code : null);

/** null: any will do. */
function modelMatch(model: string | undefined): ((asked: string) => boolean) | null {
  if (model === undefined) return null;
  if (!isPattern(model)) return (asked) => asked === model;
  checkedPattern('model', model);
  return (asked) => isLike(asked, model);
}
