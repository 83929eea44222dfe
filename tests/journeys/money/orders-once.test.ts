import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { until } from '../../support/until.js';

/*
 * The database takes an order to credit somebody, and is out of reach before it has said so. The administrator hears
 * that nobody knows, and sends the order again: it is carried out once.
 */

/** Longer than the gateway waits for its log. */
const patience = 90_000;

let gateway: TestGateway;
let between: CutOff;
let user: TestUser;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await startTestGateway(
    { APPEND_PATIENCE_SECONDS: '1' },
    {
      reach: async (connection) => {
        between = await CutOff.before(connection);
        return between.connection;
      },
    },
  );
  user = await gateway.addUser(1_000);
  const { token, position } = await gateway.application.users.issueAccessToken(
    gateway.root,
    await gateway.proven({ actor: gateway.root, password: gateway.rootPassword }, 'access-token'),
  );
  await gateway.application.visible(position);
  headers = { authorization: token, 'new-api-user': String(gateway.root.id), 'content-type': 'application/json' };
});
afterAll(async () => {
  await gateway?.stop();
  await between?.cut();
});

interface Answered {
  readonly success: boolean;
  readonly message: string;
  readonly data: { readonly key?: string } | null;
}

const credit = async (quota: number, key?: string): Promise<Answered> => {
  const answer = await fetch(`${gateway.url}/api/user/adjust_quota`, {
    method: 'POST',
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify({ user_id: user.actor.id, quota_delta: quota }),
  });
  return (await answer.json()) as Answered;
};

/** Until the database is reached again the answer is a refusal, and nothing is done. */
const carriedOut = (quota: number, key?: string): Promise<Answered> =>
  until(async () => {
    const answer = await credit(quota, key);
    return answer.success ? answer : null;
  });

test.each([
  ['a client that names its orders', 'order-1'],
  ['a form that is sent again', undefined],
] as const)(
  'a credit with an unknown outcome is reported as unknown to %s, and made once',
  async (_who, key) => {
    const before = await gateway.available(user);
    const lost = between.loseAnswerTo('QuotaAdjusted').then(() => between.cut());
    const first = credit(500, key);
    await lost;
    const { success, message, data } = await first;
    expect(success).toBe(false);
    expect(message).toContain('操作结果未知');
    expect(data?.key).toMatch(key === undefined ? /./ : key);
    await between.restore();
    await carriedOut(500, key);
    expect(await gateway.available(user)).toBe(before + 500);
  },
  patience,
);
