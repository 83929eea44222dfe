import { type IncomingMessage, request } from 'node:http';
import type { TestGateway } from '../support/gateway/test-gateway.js';

/* A browser with a page of ours open, as far as the faces see it: it keeps cookies, and says where its page is from. */

interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data: Record<string, unknown> | string | null;
}

interface GraphqlAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

export class Visitor {
  readonly cookies = new Map<string, string>();
  /** As legacy clients send it. */
  userId: number | null = null;
  private password = '';

  constructor(readonly gateway: Pick<TestGateway, 'url'>) {}

  private async send(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const answer = await fetch(`${this.gateway.url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'sec-fetch-site': 'same-origin',
        ...init.headers,
      },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  get(
    path: string,
    query: Readonly<Record<string, string>> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const text = new URLSearchParams(query).toString();
    const user: Record<string, string> = this.userId === null ? {} : { 'new-api-user': String(this.userId) };
    return this.send(`/api${path}${text === '' ? '' : `?${text}`}`, { headers: { ...user, ...headers } });
  }

  async ask(
    path: string,
    query: Readonly<Record<string, string>> = {},
    headers: Record<string, string> = {},
  ): Promise<Envelope> {
    return (await (await this.get(path, query, headers)).json()) as Envelope;
  }

  /** The same, with the password proven for a change of what one signs in by. */
  async askProven(path: string, query: Readonly<Record<string, string>> = {}): Promise<Envelope> {
    return this.ask(path, query, { 'x-step-up': (await this.proven('BINDINGS')) ?? '' });
  }

  /** As a browser goes to a page; `fetch` says what it is by itself. */
  navigate(path: string, query: Readonly<Record<string, string>>, site: string): Promise<IncomingMessage> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'sec-fetch-mode': 'navigate', 'sec-fetch-site': site };
    return new Promise((resolve, reject) => {
      const asked = request(`${this.gateway.url}/api${path}?${new URLSearchParams(query)}`, { headers }, (answer) => {
        answer.resume();
        resolve(answer);
      });
      asked.on('error', reject).end();
    });
  }

  async graphql(query: string, variables: object = {}): Promise<GraphqlAnswer> {
    const answer = await this.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test', origin: this.gateway.url },
      body: JSON.stringify({ query, variables }),
    });
    return (await answer.json()) as GraphqlAnswer;
  }

  /** The code it was refused with; undefined: it was not. */
  async refusal(query: string, variables: object = {}): Promise<string | undefined> {
    return (await this.graphql(query, variables)).errors?.[0]?.extensions.code;
  }

  async signIn(username: string, password: string): Promise<void> {
    const { data, errors } = await this.graphql(
      'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { user { id } } }',
      { username, password },
    );
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    this.password = password;
    this.userId = Number((data as { login: { user: { id: string } } }).login.user.id);
  }

  /** By the password; null: there is none to prove anything by. */
  async proven(purpose: string): Promise<string | null> {
    if (this.password === '') return null;
    const prove =
      'mutation ($purpose: StepUpPurpose!, $password: String!) { stepUp(purpose: $purpose, password: $password) }';
    const { data } = await this.graphql(prove, { purpose, password: this.password });
    return (data as { stepUp: string }).stepUp;
  }

  /** Where the browser is sent. */
  async visit(provider: string, bind = false, inviteCode = ''): Promise<string> {
    const { data, errors } = await this.graphql(
      `mutation ($bind: Boolean!, $inviteCode: String!, $stepUp: String) {
        visitProvider(provider: ${provider}, bind: $bind, inviteCode: $inviteCode, stepUp: $stepUp)
      }`,
      { bind, inviteCode, stepUp: bind ? await this.proven('BINDINGS') : null },
    );
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return (data as { visitProvider: string }).visitProvider;
  }

  readonly endVisit = `mutation ($provider: VisitedProvider!, $code: String!, $state: String!) {
    endVisit(provider: $provider, code: $code, state: $state) {
      bound { id identities { provider name } }
      signIn { secondFactor user { id username displayName email identities { provider name } } }
    }
  }`;

  end(provider: string, back: { readonly code: string; readonly state: string }): Promise<GraphqlAnswer> {
    return this.graphql(this.endVisit, { provider, ...back });
  }
}
