import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import { type QuotaStyle, quotaStyle } from '../application/quota-text.js';
import type { LogStatistics } from '../application/usage/log-figures.js';
import type { LogFilter } from '../application/usage/visible-log.js';
import { cacheWriteTokens } from '../domain/call/usage.js';
import type { Position } from '../domain/events/events.js';
import { ChannelId } from '../domain/kernel/ids.js';
import { instantOf } from '../domain/kernel/instant.js';
import { representable } from '../domain/kernel/quota.js';
import type { LogType } from '../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import { isClaudeCall, otherForAdmin, otherForUser } from './log-other.js';
import { lineKinds, logContent, typesBeginningWith } from './log-text.js';
import { answersSoFar } from './so-far.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { RestRefusal } from './wire/errors.js';
import { given, type Query } from './wire/query.js';

/* The usage log: lists, searches and figures. */

/** Kinds of lines by number; anything else asks for lines that do not exist. */
const types: readonly LogType[] = Object.values(lineKinds);
const targetNeeded = 'target timestamp is required';
const apiKeyRefused = '该令牌已停用、已过期，或不允许从当前地址使用';
const userIdModulus = 1024;
const searchLimit = 100;
/** A search for words looks at so many of the newest lines of the kinds that can have them: words are made as lines are read. */
const searchDepth = 10_000;
const searchBatch = 1_000;

const promptTokens = (line: UsageLogEntry): number =>
  isClaudeCall(line)
    ? Math.max(0, line.prompt_tokens - line.cached_tokens - cacheWriteTokens(line.usage))
    : line.prompt_tokens;

const record = (line: UsageLogEntry, style: QuotaStyle) => ({
  id: Number(line.id),
  user_id: line.user_id,
  created_at: line.created_at,
  type: line.type,
  content: logContent(line, style),
  username: line.username,
  token_name: line.api_key_name,
  model_name: line.model,
  quota: line.quota,
  prompt_tokens: promptTokens(line),
  completion_tokens: line.completion_tokens,
  use_time: Math.floor(line.use_time_ms / 1000),
  is_stream: line.is_stream,
  channel: line.channel_id,
  channel_name: line.channel_name,
  token_id: line.api_key_id,
  group: line.group,
});

export const adminLine = (line: UsageLogEntry, style: QuotaStyle) => ({
  ...record(line, style),
  other: otherForAdmin(line),
});

/** As users see it: no channel names, and an id that discloses nothing about how much others do. */
export const userLine = (line: UsageLogEntry, style: QuotaStyle) => ({
  ...record(line, style),
  id: Number(line.id) % userIdModulus,
  channel_name: '',
  other: otherForUser(line),
});

/** null: a type was asked for that no line has. */
function typeIn(wanted: number): { type?: LogType } | null {
  if (wanted === 0) return {};
  const type = types.find((known) => known === wanted);
  return type === undefined ? null : { type };
}

/** `%` in a model name stands for anything, as users type it. */
const filterIn = (query: Query): LogFilter => ({
  apiKeyName: given(query.text('token_name')),
  model: given(query.text('model_name')),
  group: given(query.text('group')),
  from: given(query.integer('start_timestamp')),
  to: given(query.integer('end_timestamp')),
});

const channelIn = (query: Query): LogFilter => {
  const id = query.integer('channel');
  return id > 0 ? { channelId: ChannelId(id) } : {};
};

const adminFilterIn = (query: Query): LogFilter => ({
  ...filterIn(query),
  ...channelIn(query),
  username: given(query.text('username')),
});

interface WordedLines {
  readonly lines: readonly UsageLogEntry[];
  /** There are older lines that nobody has looked at. */
  readonly isPartial: boolean;
}

interface LogEndpointOptions {
  /** Whether an API key with these allowed addresses may be used from the address. */
  readonly allowsAddress: (address: string, allowed: readonly string[]) => boolean;
}

export function logEndpoints(
  endpoints: Endpoints,
  { queries, directory, readModels, usageLog }: Application,
  { allowsAddress }: LogEndpointOptions,
): void {
  const soFar = answersSoFar({ readModels });
  /** Of all lines of one answer. */
  const currentStyle = () => quotaStyle(directory.settings());

  const page = async (viewer: UserView, query: Query, filter: LogFilter, own: boolean) => {
    const request = query.page();
    const type = typeIn(query.integer('type'));
    const { items, total, totalIsExact } =
      type === null
        ? { items: [], total: 0, totalIsExact: true }
        : await queries.log(viewer, { ...filter, ...type }, request, own);
    const lineFor = own ? userLine : adminLine;
    const style = currentStyle();
    return soFar({
      items: items.map((line) => lineFor(line, style)),
      total,
      page: request.page,
      page_size: request.size,
      // Beyond the contract, and only where the total is not what a client may take it for.
      ...(totalIsExact ? {} : { total_is_estimate: true }),
    });
  };

  const figures = (sums: LogStatistics) =>
    soFar({
      quota: sums.quota,
      rpm: sums.rpm,
      tpm: sums.tpm,
      token: representable(sums.prompt_tokens + sums.completion_tokens),
      prompt_tokens: sums.prompt_tokens,
      completion_tokens: sums.completion_tokens,
      cache_tokens: sums.cached_tokens,
      reasoning_tokens: sums.reasoning_tokens,
      request_count: sums.requests,
    });

  const ofType = async (viewer: UserView, keyword: string, own: boolean): Promise<readonly UsageLogEntry[]> => {
    const type = /^\d+$/.test(keyword) ? types.find((known) => known === Number(keyword)) : undefined;
    return type === undefined ? [] : queries.logBefore(viewer, { type }, { limit: searchLimit }, own);
  };

  const worded = async (viewer: UserView, beginning: string, style: QuotaStyle): Promise<WordedLines> => {
    const found: UsageLogEntry[] = [];
    const [type, ...others] = typesBeginningWith(beginning);
    const filter = others.length === 0 ? { type } : {};
    let before: Position | undefined;
    let isWhole = type === undefined;
    // As many as are shown at first: where lines are of one kind, most often all of them begin so.
    let limit = searchLimit;
    for (let seen = 0; seen < searchDepth && found.length < searchLimit && !isWhole; seen += limit) {
      limit = seen === 0 ? searchLimit : Math.min(searchBatch, searchDepth - seen);
      const lines = await queries.logBefore(viewer, filter, { before, limit }, false);
      found.push(...lines.filter((line) => logContent(line, style).startsWith(beginning)));
      before = lines.at(-1)?.id;
      isWhole = lines.length < limit;
    }
    return { lines: found.slice(0, searchLimit), isPartial: !isWhole && found.length < searchLimit };
  };

  endpoints.guarded('admin', 'GET', '/log/', (viewer, { query }) => page(viewer, query, adminFilterIn(query), false));
  endpoints.guarded(
    'admin',
    'DELETE',
    '/log/',
    async (viewer, { query }) => {
      const target = query.integer('target_timestamp');
      if (target === 0) throw new RestRefusal(targetNeeded);
      const { lines } = await usageLog.clear(viewer, instantOf('before', target));
      return success(lines);
    },
    { fields: { before: 'target_timestamp' } },
  );
  endpoints.guarded('ordinary', 'GET', '/log/self', (viewer, { query }) => page(viewer, query, filterIn(query), true));
  endpoints.guarded('admin', 'GET', '/log/stat', async (viewer, { query }) =>
    figures(await queries.logStatistics(viewer, adminFilterIn(query), false)),
  );
  endpoints.guarded('ordinary', 'GET', '/log/self/stat', async (viewer, { query }) =>
    figures(await queries.ownLogStatistics(viewer, { ...filterIn(query), ...channelIn(query) })),
  );

  endpoints.guarded('admin', 'GET', '/log/search', async (viewer, { query }) => {
    const keyword = query.text('keyword');
    const style = currentStyle();
    const typed = await ofType(viewer, keyword, false);
    const { lines, isPartial } =
      typed.length > 0 ? { lines: typed, isPartial: false } : await worded(viewer, keyword, style);
    const answer = soFar(lines.map((line) => adminLine(line, style)));
    // Beyond the contract, and only where the list may not be what a client takes it for.
    return isPartial ? { ...answer, is_partial: true } : answer;
  });

  endpoints.guarded('ordinary', 'GET', '/log/self/search', async (viewer, { query }) => {
    const style = currentStyle();
    const found = await ofType(viewer, query.text('keyword'), true);
    return soFar(found.map((line) => userLine(line, style)));
  });

  // The key is the credential, so pages of any origin may ask.
  endpoints.open('GET', '/log/token', async ({ request, reply, query }) => {
    reply.header('access-control-allow-origin', '*');
    const key = query.text('key').replace(/^sk-/, '').split('-', 1)[0] ?? '';
    const lines = key === '' ? [] : await queries.apiKeyLog(key, (allowed) => allowsAddress(request.ip, allowed));
    if (lines === null) throw new RestRefusal(apiKeyRefused);
    const style = currentStyle();
    return soFar(lines.map((line) => userLine(line, style)));
  });
}
