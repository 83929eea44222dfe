import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';

/* A user holds as many live API keys as an option says, whichever face issues them and however many orders come at once. */

const max = 20;
const page = { page: 1, size: 100 };

let gateway: TestGateway;
let users = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.setOption('general_setting.api_keys_per_user', String(max));
});
afterAll(async () => {
  await gateway?.stop();
});

interface Issuer {
  readonly user: TestUser;
  overGraphql(): Promise<'issued' | Record<string, unknown>>;
  overRest(): Promise<string>;
}

async function issuer(): Promise<Issuer> {
  const user = await gateway.addUser(0, `issuer${++users}`);
  const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const login = await post('/api/user/login', { username: user.username, password: user.password });
  const cookie = login.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const asUser = { cookie, 'new-api-user': String(user.actor.id), 'x-tallygate-client': 'test' };
  const query = 'mutation { issueApiKey(input: { name: "k", unlimited: true }) { id } }';
  return {
    user,
    async overGraphql() {
      const answer = await post('/graphql', { query }, asUser);
      const { errors } = (await answer.json()) as { errors?: { extensions: Record<string, unknown> }[] };
      return errors?.[0]?.extensions ?? 'issued';
    },
    async overRest() {
      const answer = await post('/api/token/', { name: 'k', unlimited_quota: true }, asUser);
      expect(answer.status).toBe(200);
      const { success, message } = (await answer.json()) as { success: boolean; message: string };
      return success ? 'issued' : message;
    },
  };
}

const keysOf = ({ actor }: TestUser) =>
  gateway.application.queries.allApiKeys(gateway.root, page, { ownerId: UserId(actor.id) });

const refusedByGraphql = { code: 'too-many-api-keys', kind: 'refused', details: { allowed: max } };
const refusedByRest = `令牌数量已达上限：每个用户最多 ${max} 个令牌`;

test('parallel commands over both faces succeed exactly as often as the limit permits', async () => {
  const { user, overGraphql, overRest } = await issuer();
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? overRest() : overGraphql())));
  const refused = answers.filter((answer) => answer !== 'issued');
  expect(answers.length - refused.length).toBe(max);
  for (const answer of refused) expect([refusedByGraphql, refusedByRest]).toContainEqual(answer);
  expect(await (await keysOf(user)).count()).toBe(max);
});

test('the limit of API keys per user is named by both faces; a deleted key makes room for one, and other users have limits of their own', async () => {
  const { user, overGraphql, overRest } = await issuer();
  for (let index = 0; index < max; index++) expect(await overRest()).toBe('issued');
  expect(await overGraphql()).toEqual(refusedByGraphql);
  expect(await overRest()).toBe(refusedByRest);
  expect(await (await issuer()).overGraphql()).toBe('issued');

  const [key] = (await keysOf(user)).items;
  if (key === undefined) throw new Error('there are no keys');
  await gateway.application.visible(await gateway.application.apiKeys.remove(user.actor, key.id));
  expect(await overGraphql()).toBe('issued');
  expect(await overRest()).toBe(refusedByRest);
});

test('a command repeated by its idempotency key returns its result when the limit is reached', async () => {
  const { user, overRest } = await issuer();
  const terms = apiKeyTerms({ name: 'once', unlimited: true });
  const order = () => gateway.application.apiKeys.issue(user.actor, { terms, quota: 0 }, 'order-1');
  const first = await order();
  for (let index = 1; index < max; index++) expect(await overRest()).toBe('issued');
  expect(await overRest()).toBe(refusedByRest);
  expect(await order()).toEqual(first);
});

test('a limit of 0 API keys per user is no limit', async () => {
  const { overGraphql, overRest } = await issuer();
  for (let index = 0; index < max; index++) expect(await overRest()).toBe('issued');
  await gateway.setOption('general_setting.api_keys_per_user', '0');
  expect(await overRest()).toBe('issued');
  expect(await overGraphql()).toBe('issued');
  await gateway.setOption('general_setting.api_keys_per_user', String(max));
});
