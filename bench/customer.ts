/* The benchmark's customer: made, and later questioned, through the gateway's own REST API. */

interface Envelope {
  readonly success: boolean;
  readonly message?: string;
  readonly data?: unknown;
}

/** Someone at the console: a session cookie and a user id. */
class Session {
  private cookie = '';
  private userId = '';

  constructor(private readonly url: string) {}

  async call<Data>(method: string, path: string, body?: object): Promise<Data> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(this.cookie === '' ? {} : { cookie: this.cookie, 'new-api-user': this.userId }),
      },
      body: body ? JSON.stringify(body) : undefined,
    });
    const answer = (await response.json()) as Envelope;
    if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${answer.message ?? ''}`);
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('session='));
    if (cookie !== undefined) this.cookie = cookie.split(';', 1)[0] ?? '';
    return answer.data as Data;
  }

  async login(username: string, password: string): Promise<number> {
    const { id } = await this.call<{ id: number }>('POST', '/api/user/login', { username, password });
    this.userId = String(id);
    return id;
  }
}

/** What the gateway says it has done for the benchmark's user. */
export interface Books {
  readonly requests: number;
  readonly completionTokens: number;
  readonly charged: number;
  readonly userBalance: number;
  readonly apiKeyBalance: number;
}

export interface Customer {
  readonly apiKey: string;
  readonly granted: number;
  /** As the read models have it; they follow the log. */
  books(): Promise<Books>;
}

const granted = 1_000_000_000_000;
const username = 'bench';
const password = 'correct horse 7';

/** First run, a channel to the upstream, a user with quota and an API key with a limit: everything a call can meet. */
export async function setUp(url: string, upstream: string, model: string): Promise<Customer> {
  const root = new Session(url);
  const rootPassword = 'a password for an hour';
  await root.call('POST', '/api/setup', {
    username: 'root',
    password: rootPassword,
    confirmPassword: rootPassword,
    SelfUseModeEnabled: false,
    DemoSiteEnabled: false,
  });
  await root.login('root', rootPassword);
  const channel = { name: 'bench', type: 1, key: 'sk-bench', base_url: upstream, models: model, group: 'default' };
  await root.call('POST', '/api/channel/', channel);
  await root.call('POST', '/api/user/', { username, password, display_name: username });
  const { items } = await root.call<{ items: { id: number; username: string }[] }>(
    'GET',
    '/api/user/?p=1&page_size=10',
  );
  const id = items.find((user) => user.username === username)?.id;
  await root.call('PUT', '/api/user/', { id, username, display_name: username, group: 'default', quota: granted });

  const user = new Session(url);
  await user.login(username, password);
  await user.call('POST', '/api/token/', {
    name: 'bench',
    remain_quota: granted,
    expired_time: -1,
    unlimited_quota: false,
  });
  const apiKeys = () => user.call<{ key: string; remain_quota: number }[]>('GET', '/api/token/?p=0&size=10');
  const key = (await apiKeys())[0]?.key;
  if (key === undefined) throw new Error('the API key is not listed');

  return {
    apiKey: `sk-${key}`,
    granted,
    async books() {
      const stat = await user.call<{ quota: number; request_count: number; completion_tokens: number }>(
        'GET',
        '/api/log/self/stat?type=2',
      );
      const self = await user.call<{ quota: number }>('GET', '/api/user/self');
      const [apiKey] = await apiKeys();
      return {
        requests: stat.request_count,
        completionTokens: stat.completion_tokens,
        charged: stat.quota,
        userBalance: self.quota,
        apiKeyBalance: apiKey?.remain_quota ?? Number.NaN,
      };
    },
  };
}
