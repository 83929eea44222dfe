import type { FastifyRequest } from 'fastify';
import { TimeZone } from '../application/calendar.js';
import { toldDetail } from '../application/usage/log-alias.js';
import type { LogFilter } from '../application/usage/visible-log.js';
import { cacheWriteTokens } from '../domain/call/usage.js';
import { invalidField } from '../domain/kernel/failure.js';
import { ChannelId } from '../domain/kernel/ids.js';
import type { logTypes as LogTypes } from '../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import type { Cell } from './csv.js';
import { type Parameters, parameterIn, secondsIn } from './parameters.js';

/* The usage log as a file: what is asked for, and what its columns hold. */

const logTypes: typeof LogTypes = { recharge: 1, consume: 2, manage: 3, system: 4, error: 5 };

interface LogAsked {
  readonly filter: LogFilter;
  /** Everybody's lines, not only one's own. */
  readonly everyone: boolean;
  readonly zone: TimeZone;
}

function typeIn(query: Parameters): LogFilter['type'] {
  const name = parameterIn(query, 'type');
  if (name === undefined) return undefined;
  const found = Object.entries(logTypes).find(([known]) => known === name);
  if (found === undefined) throw invalidField('type', `one of ${Object.keys(logTypes).join(', ')}`);
  return found[1];
}

function channelIn(query: Parameters): ChannelId | undefined {
  const text = parameterIn(query, 'channel');
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidField('channel', 'the id of a channel');
  return ChannelId(text);
}

/** The filter of the log in a query. Throws `invalid-field`. */
export function logRequestIn({ query: given }: Pick<FastifyRequest, 'query'>): LogAsked {
  const query = given as Parameters;
  return {
    zone: TimeZone.named('zone', parameterIn(query, 'zone') ?? 'UTC'),
    everyone: parameterIn(query, 'everyone') === 'true',
    filter: {
      type: typeIn(query),
      username: parameterIn(query, 'username'),
      apiKeyName: parameterIn(query, 'token'),
      model: parameterIn(query, 'model'),
      channelId: channelIn(query),
      group: parameterIn(query, 'group'),
      requestId: parameterIn(query, 'request'),
      code: parameterIn(query, 'code'),
      from: secondsIn(query, 'from'),
      to: secondsIn(query, 'to'),
    },
  };
}

interface Column {
  readonly name: string;
  readonly cell: (line: UsageLogEntry) => Cell;
}

const typeNames = Object.fromEntries(Object.entries(logTypes).map(([name, type]) => [type, name]));

/** A channel test shows what it would have cost, which nobody was charged. */
const charged = ({ type, quota, detail }: UsageLogEntry): Cell =>
  type === logTypes.consume && toldDetail(detail) === null ? quota : null;

/** What was given or taken otherwise. */
function change(line: UsageLogEntry): Cell {
  const detail = toldDetail(line.detail);
  if (detail === null) return null;
  if (detail.kind === 'adjusted') return detail.delta;
  // In no balance before it is transferred.
  if (detail.kind === 'granted' && detail.reason === 'inviter') return null;
  return 'quota' in detail ? detail.quota : null;
}

function outcome(line: UsageLogEntry): Cell {
  const detail = toldDetail(line.detail);
  if (detail === null) return line.outcome;
  if (detail.kind !== 'released') return detail.kind;
  return [detail.reason, detail.status, detail.code].filter((part) => part !== null).join(' ');
}

const forAdministrators: readonly Column[] = [
  { name: 'user id', cell: ({ user_id }) => user_id },
  { name: 'user', cell: ({ username }) => username },
  { name: 'channel id', cell: ({ channel_id }) => channel_id || null },
  { name: 'channel', cell: ({ channel_name }) => channel_name },
  { name: 'channels tried', cell: ({ attempts }) => attempts.join(' > ') },
];

/** `money`: quota in US dollars. */
export const logColumns = ({ everyone, zone }: LogAsked, money: (quota: bigint) => string): readonly Column[] => [
  { name: `time (${zone.name})`, cell: ({ created_at }) => zone.timeOf(created_at * 1000) },
  { name: 'type', cell: ({ type }) => typeNames[type] ?? null },
  { name: 'request id', cell: ({ request_id }) => request_id },
  ...(everyone ? forAdministrators : []),
  { name: 'API key', cell: ({ api_key_name }) => api_key_name },
  { name: 'group', cell: ({ group }) => group },
  { name: 'model', cell: ({ model }) => model },
  { name: 'upstream model', cell: ({ upstream_model }) => upstream_model },
  { name: 'streamed', cell: ({ request_id, is_stream }) => (request_id === null ? null : is_stream ? 'yes' : 'no') },
  { name: 'duration ms', cell: ({ request_id, use_time_ms }) => (request_id === null ? null : use_time_ms) },
  { name: 'first token ms', cell: ({ first_token_ms }) => first_token_ms },
  { name: 'input tokens', cell: ({ prompt_tokens }) => prompt_tokens },
  { name: 'cached input tokens', cell: ({ cached_tokens }) => cached_tokens },
  { name: 'cache write tokens', cell: ({ usage }) => cacheWriteTokens(usage) },
  { name: 'output tokens', cell: ({ completion_tokens }) => completion_tokens },
  { name: 'reasoning tokens', cell: ({ reasoning_tokens }) => reasoning_tokens },
  { name: 'charged', cell: charged },
  {
    name: 'charged USD',
    cell: (line) => {
      const quota = charged(line);
      return quota === null ? null : money(BigInt(quota));
    },
  },
  { name: 'uncovered', cell: ({ uncovered }) => uncovered || null },
  { name: 'balance change', cell: change },
  { name: 'outcome', cell: outcome },
];
