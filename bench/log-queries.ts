import type { Session } from './customer.js';
import type { Past } from './data-set.js';
import { parted, unevenly } from './history.js';

/* What people ask of the usage log and the statistics, through the faces they ask it through. */

export interface QueryContext {
  /** An administrator. */
  readonly root: Session;
  /** A user with a long log of their own. */
  readonly customer: Session;
  readonly past: Past;
  readonly random: () => number;
}

export interface LogQuery {
  readonly name: string;
  ask(context: QueryContext): Promise<unknown>;
}

type Parameters = Readonly<Record<string, string | number>>;

const day = 24 * 3600;

const addressOf = (path: string, parameters: Parameters): string => {
  const texts = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  return `/api/${path}?${new URLSearchParams(texts)}`;
};

const rest = (name: string, path: string, parameters: (context: QueryContext) => Parameters): LogQuery => ({
  name: `REST ${name}`,
  ask: (context) =>
    (path.includes('/self') ? context.customer : context.root).call('GET', addressOf(path, parameters(context))),
});

/** A page of the log by number. */
const page = (name: string, filter: (context: QueryContext) => Parameters): LogQuery =>
  rest(`log: ${name}`, 'log/', (context) => ({ p: 1, page_size: 20, ...filter(context) }));

const lines = `query ($filter: UsageLogFilterInput, $after: ID) {
  usageLog(filter: $filter, after: $after, first: 20, everyone: true) {
    edges { node { id createdAt type model quota promptTokens completionTokens apiKeyName username channelName useTimeMs } }
    pageInfo { hasNextPage startCursor endCursor }
  }
}`;

/** A page of the log as the console asks for it. */
const keyset = (
  name: string,
  filter: (context: QueryContext) => object,
  after?: (context: QueryContext) => string,
): LogQuery => ({
  name: `GraphQL log: ${name}`,
  ask: (context) => context.root.query(lines, { filter: filter(context), after: after?.(context) }),
});

const statistics = `query ($from: Timestamp!, $to: Timestamp!, $by: [UsageDimension!]!, $interval: Interval) {
  usageStatistics(from: $from, to: $to, by: $by, interval: $interval, everyone: true) {
    start model userId requests errors quota promptTokens completionTokens
  }
}`;

const dashboard = (name: string, by: readonly string[], interval: string | null): LogQuery => ({
  name: `GraphQL 90 days by ${name}`,
  ask: ({ root, past: { from, to } }) => root.query(statistics, { from, to, by, interval }),
});

const figures = `requests errors quota promptTokens completionTokens
  latency { p50 p95 p99 } firstToken { p50 p95 p99 }`;
const historyOf = `query ($from: Timestamp!, $to: Timestamp!, $earlier: Timestamp!, $by: UsageDimension!, $everyone: Boolean!) {
  now: usageHistory(from: $from, to: $to, interval: DAY, zone: "Europe/Berlin", by: $by, everyone: $everyone) {
    requestsPerMinute tokensPerMinute total { ${figures} } pieces { start ${figures} }
    shares { key name total { ${figures} } pieces { requests errors quota promptTokens completionTokens } }
  }
  before: usageHistory(from: $earlier, to: $from, interval: DAY, zone: "Europe/Berlin", everyone: $everyone) {
    total { ${figures} }
  }
}`;

/** The past and the time before it, as the dashboard asks for them. */
const history = (name: string, by: string, whose: 'root' | 'customer' = 'root'): LogQuery => ({
  name: `GraphQL dashboard of 90 days by ${name}`,
  ask: ({ past: { from, to }, ...sessions }) =>
    sessions[whose].query(historyOf, { from, to, by, earlier: 2 * from - to, everyone: whose === 'root' }),
});

const user = ({ past, random }: QueryContext): string => unevenly(past.usernames, random);
const model = ({ past, random }: QueryContext): string => unevenly(past.models, random);
const channel = ({ past, random }: QueryContext): number => unevenly(past.channelIds, random);
const apiKeyName = ({ past, random }: QueryContext): string => unevenly(past.callers, random).apiKeyName;
const apiKeyId = ({ past, random }: QueryContext): string => String(unevenly(past.callers, random).apiKeyId);
/** So many days somewhere within the past. */
const span = ({ past: { from, to }, random }: QueryContext, days: number) => {
  const start = Math.floor(from + random() * (to - from - days * day));
  return { from: start, to: start + days * day };
};
const stamps = (context: QueryContext, days: number): Parameters => {
  const { from, to } = span(context, days);
  return { start_timestamp: from, end_timestamp: to };
};
const rarest = <Value>(values: readonly Value[]): Value => {
  const last = values.at(-1);
  if (last === undefined) throw new Error('there is nothing to draw from');
  return last;
};
const wholePast = ({ past: { from, to } }: QueryContext): Parameters => ({ start_timestamp: from, end_timestamp: to });

export const logQueries: readonly LogQuery[] = [
  page('no filter', () => ({})),
  page('user', (context) => ({ username: user(context) })),
  page('model', (context) => ({ model_name: model(context) })),
  page('model pattern', () => ({ model_name: '%mini%' })),
  page('channel', (context) => ({ channel: channel(context) })),
  page('key', (context) => ({ token_name: apiKeyName(context) })),
  page('group', () => ({ group: 'default' })),
  page('one day', (context) => stamps(context, 1)),
  page('30 days', (context) => stamps(context, 30)),
  page('type: charges', () => ({ type: 2 })),
  page('type: failures', () => ({ type: 5 })),
  page('user, model, 7 days', (context) => ({
    username: user(context),
    model_name: model(context),
    ...stamps(context, 7),
  })),
  page('failures of a channel', (context) => ({ type: 5, channel: channel(context) })),
  page('the rarest user and model', ({ past }) => ({
    username: rarest(past.usernames),
    model_name: rarest(past.models),
  })),
  page('the rarest user and channel', ({ past }) => ({
    username: rarest(past.usernames),
    channel: rarest(past.channelIds),
  })),
  page('the rarest channel and model', ({ past }) => ({
    channel: rarest(past.channelIds),
    model_name: rarest(past.models),
  })),
  page('a user and a channel that parted', ({ past }) => {
    const { place, channelId } = parted(past);
    return { username: past.usernames[place] ?? '', channel: channelId };
  }),
  page('adjustments by administrators', () => ({ type: 3 })),
  page('failures of a user', (context) => ({ type: 5, username: user(context) })),
  page('a key of no such name', () => ({ token_name: 'nobody' })),
  page('a pattern of no model', () => ({ model_name: '%nothing%' })),
  page('a group of nobody', () => ({ group: 'nobody' })),
  page('no filter, page 500', () => ({ p: 500 })),
  page('no filter, halfway down', ({ past }) => ({ p: Math.floor(past.rows / 40) })),
  rest('own log', 'log/self', () => ({ p: 1, page_size: 20 })),
  rest('log search by type', 'log/search', () => ({ keyword: 2 })),
  rest('log search by words', 'log/search', () => ({ keyword: '请求失败' })),
  rest('sums of 90 days', 'log/stat', wholePast),
  rest('sums of a user', 'log/stat', (context) => ({ ...wholePast(context), username: user(context) })),
  rest('sums of a key by name', 'log/stat', (context) => ({ ...wholePast(context), token_name: apiKeyName(context) })),
  rest('sums of a key by name and model', 'log/stat', (context) => ({
    ...wholePast(context),
    token_name: apiKeyName(context),
    model_name: model(context),
  })),
  rest('sums of a key by name and channel', 'log/stat', (context) => ({
    ...wholePast(context),
    token_name: apiKeyName(context),
    channel: channel(context),
  })),
  keyset('no filter', () => ({})),
  keyset('user', (context) => ({ username: user(context) })),
  keyset('model', (context) => ({ model: model(context) })),
  keyset('channel', (context) => ({ channelId: String(channel(context)) })),
  keyset('key', (context) => ({ apiKeyId: apiKeyId(context) })),
  keyset('one day', (context) => span(context, 1)),
  keyset('type: failures', () => ({ type: 'ERROR' })),
  keyset('user, model, 7 days', (context) => ({ username: user(context), model: model(context), ...span(context, 7) })),
  keyset('a key and a channel that parted', ({ past }) => {
    const { place, channelId } = parted(past);
    return { apiKeyId: String(past.callers[place]?.apiKeyId), channelId: String(channelId) };
  }),
  keyset('a pattern of no model', () => ({ model: '%nothing%' })),
  keyset('a request that is not there', () => ({ requestId: '20260101000000000abcdefgh' })),
  keyset(
    'no filter, halfway down',
    () => ({}),
    // Two events a call: halfway down the log of events is halfway down the log of usage.
    ({ past }) => String(past.rows),
  ),
  dashboard('day and model', ['MODEL'], 'DAY'),
  dashboard('day and user', ['USER'], 'DAY'),
  dashboard('model', ['MODEL'], null),
  history('model', 'MODEL'),
  history('channel', 'CHANNEL'),
  history('user', 'USER'),
  history('key', 'API_KEY'),
  history('group', 'GROUP'),
  history('model, of one user', 'MODEL', 'customer'),
  rest('figures of 90 days by hour and model', 'data/', wholePast),
  rest('own figures of 30 days', 'data/self', ({ past: { to } }) => ({
    start_timestamp: to - 30 * day,
    end_timestamp: to,
  })),
];
