import type { Books } from './books.js';

/* Those the benchmark does its work as: made, and later questioned, through the gateway's own REST API. */

interface Envelope {
  readonly success: boolean;
  readonly message?: string;
  readonly data?: unknown;
}

/** Someone at the console: a session cookie and a user id. */
export class Session {
  private cookieSet = '';
  private userId = '';

  constructor(private readonly url: string) {}

  get cookie(): string {
    return this.cookieSet;
  }

  async call<Data>(method: string, path: string, body?: object): Promise<Data> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(this.cookieSet === '' ? {} : { cookie: this.cookieSet, 'new-api-user': this.userId }),
      },
      body: body ? JSON.stringify(body) : undefined,
    });
    const answer = (await response.json()) as Envelope;
    if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${answer.message ?? ''}`);
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('session='));
    if (cookie !== undefined) this.cookieSet = cookie.split(';', 1)[0] ?? '';
    return answer.data as Data;
  }

  async login({ username, password }: Account): Promise<number> {
    const { id } = await this.call<{ id: number }>('POST', '/api/user/login', { username, password });
    this.userId = String(id);
    return id;
  }

  async query<Data>(query: string, variables: object): Promise<Data> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: this.cookieSet },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data?: Data; errors?: readonly { message: string }[] };
    if (data === undefined || errors !== undefined)
      throw new Error(`/graphql: ${response.status} ${errors?.map(({ message }) => message).join('; ') ?? ''}`);
    return data;
  }
}

export interface Account {
  readonly username: string;
  readonly password: string;
}

export const rootAccount: Account = { username: 'root', password: 'a password for an hour' };

/** Enough for every run, and still a number whose sums are exact. */
export const granted = 1_000_000_000_000;

export interface Customer extends Account {
  readonly id: number;
  readonly apiKey: string;
  readonly apiKeyId: number;
  readonly session: Session;
}

/** A token costs so many quota; a completion token that many times as much. */
export interface Price {
  readonly ratio: number;
  readonly completionRatio: number;
}

export interface World {
  /** The simulated provider, without `/v1`. */
  readonly upstream: string;
  readonly models: readonly string[];
  /** Those of them that are asked for in Anthropic's words. */
  readonly anthropicModels?: readonly string[];
  readonly price: Price;
  readonly channels?: number;
}

/** Signed in as root of a gateway that has been set up. */
export async function rootOf(url: string): Promise<Session> {
  const root = new Session(url);
  await root.login(rootAccount);
  return root;
}

/** Of channels. */
const openAiType = 1;
const anthropicType = 14;

/** First run, channels to the upstream, and what models cost. */
export async function setUp(
  url: string,
  { upstream, models, anthropicModels = [], price, channels = 1 }: World,
): Promise<Session> {
  const { username, password } = rootAccount;
  const first = { username, password, confirmPassword: password, SelfUseModeEnabled: false, DemoSiteEnabled: false };
  await new Session(url).call('POST', '/api/setup', first);
  const root = await rootOf(url);
  const addChannel = (name: string, type: number, served: readonly string[]) =>
    root.call('POST', '/api/channel/', {
      name,
      type,
      key: 'sk-bench',
      base_url: upstream,
      models: served.join(','),
      group: 'default',
    });
  const others = models.filter((model) => !anthropicModels.includes(model));
  for (let number = 1; number <= channels; number++) await addChannel(`bench-${number}`, openAiType, others);
  if (anthropicModels.length > 0) await addChannel('bench-anthropic', anthropicType, anthropicModels);
  const eachAt = (ratio: number) => JSON.stringify(Object.fromEntries(models.map((model) => [model, ratio])));
  await root.call('PUT', '/api/option/', { key: 'ModelRatio', value: eachAt(price.ratio) });
  await root.call('PUT', '/api/option/', { key: 'CompletionRatio', value: eachAt(price.completionRatio) });
  return root;
}

export const passwordOf = (username: string): string => `secret ${username}`;

/** A user with quota and an API key with a limit: everything a call can meet. */
export async function addCustomer(root: Session, url: string, username: string): Promise<Customer> {
  const account = { username, password: passwordOf(username) };
  await root.call('POST', '/api/user/', { ...account, display_name: username });
  const session = new Session(url);
  const id = await session.login(account);
  await root.call('POST', '/api/user/adjust_quota', { user_id: id, adjust_type: 'quota', quota_delta: granted });
  const terms = { name: `key of ${username}`, remain_quota: granted, expired_time: -1, unlimited_quota: false };
  await session.call('POST', '/api/token/', terms);
  const [apiKey] = await apiKeysOf(session);
  if (apiKey === undefined) throw new Error('the API key is not listed');
  return { ...account, id, apiKey: `sk-${apiKey.key}`, apiKeyId: apiKey.id, session };
}

const apiKeysOf = (session: Session) =>
  session.call<{ id: number; key: string; remain_quota: number }[]>('GET', '/api/token/?p=0&size=10');

interface LogSums {
  readonly quota: number;
  readonly request_count: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** What the gateway says it has done for the customer, as the read models have it; they follow the log. */
export async function ledgerOf({ session }: Customer): Promise<Books> {
  const sums = await session.call<LogSums>('GET', '/api/log/self/stat?type=2');
  const self = await session.call<{ quota: number }>('GET', '/api/user/self');
  const [apiKey] = await apiKeysOf(session);
  return {
    requests: sums.request_count,
    promptTokens: sums.prompt_tokens,
    completionTokens: sums.completion_tokens,
    charged: sums.quota,
    userBalance: self.quota,
    apiKeyBalance: apiKey?.remain_quota ?? Number.NaN,
  };
}
