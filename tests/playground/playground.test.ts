import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  type Caller,
  type Callers,
  errorIn,
  isWholeStream,
  openCallers,
} from '../support/callers/callers.js';
import { newestCall } from '../support/gateway/ledger-snapshot.js';
import { signIn } from '../support/gateway/sign-in.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';

/* Calls in person: who is signed in to the console asks, and pays as for a call by an API key. */

const balance = 10_000_000;
const model = 'gpt-4o-mini';

let gateway: TestGateway;
let callers: Callers;
let nobody: Caller;
let user: TestUser;
let token: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  nobody = callers.with(null);
  await gateway.addChannel({ groups: ['default', 'vip'] });
  await gateway.setOption('GroupRatio', '{"default":1,"vip":2,"secret":1}');
  await gateway.setOption('UserUsableGroups', '{"default":"all","vip":"dearer"}');
}, 90_000);
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(balance);
  token = (await signIn(gateway.application.identity, user.username, user.password)).token;
});

type Sending = NonNullable<Parameters<Caller['send']>[1]>;

const own = (): Record<string, string> => ({
  cookie: `session=${token}`,
  'content-type': 'application/json',
  'x-tallygate-client': 'console',
});

const messages = [{ role: 'user', content: 'What is a ledger?' }];

const ask = (body: NonNullable<Sending['body']> = {}, { headers = own(), ...sending }: Sending = {}): Promise<Answer> =>
  nobody.send('/pg/chat/completions', {
    method: 'POST',
    headers,
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : { model, messages, ...body },
    ...sending,
  });

const statusAndCode = (answer: Answer): [number, string] => [answer.status, errorIn(answer).code];
const without = (name: string): Record<string, string> => {
  const { [name]: _, ...others } = own();
  return others;
};
const untouched = async (): Promise<void> => {
  expect(gateway.provider.tally().calls).toBe(0);
  expect(await gateway.available(user)).toBe(balance);
};

describe('a playground call', () => {
  test('is charged to the user exactly once, and to no API key', async () => {
    const answer = await ask();
    expect(answer.status).toBe(200);
    const { reserved, settled, released } = await newestCall(gateway.config);
    expect([reserved.length, settled.length, released.length]).toEqual([1, 1, 0]);
    const [event] = settled;
    expect(event?.charged).toBeGreaterThan(0);
    expect(event?.facts).toEqual({
      userId: user.actor.id,
      apiKeyId: null,
      apiKeyName: 'playground-default',
      group: 'default',
      model,
      path: '/pg/chat/completions',
      stream: false,
    });
    expect(await gateway.available(user)).toBe(balance - (event?.charged ?? 0));
  });

  test('is streamed, and its headers name the request', async () => {
    const answer = await ask({ stream: true });
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(answer.headers['x-oneapi-request-id']).toBe(answer.requestId);
    expect(isWholeStream(answer)).toBe(true);
    expect((await newestCall(gateway.config)).settled[0]?.facts.stream).toBe(true);
  });

  test('is priced by the group it names, which is not sent upstream', async () => {
    await ask();
    const usual = (await newestCall(gateway.config)).settled[0]?.charged ?? 0;
    expect((await ask({ group: 'vip' })).status).toBe(200);
    const [expensive] = (await newestCall(gateway.config)).settled;
    expect(expensive?.facts).toMatchObject({ group: 'vip', apiKeyName: 'playground-vip' });
    expect(expensive?.charged).toBe(2 * usual);
    expect(gateway.provider.tally().requests.at(-1)?.body).not.toHaveProperty('group');
  });

  test('that is refused names its group, if that exists', async () => {
    const { queries } = gateway.application;
    for (const [named, statusAndCode] of [
      ['vip', 'vip'],
      ['invented', 'default'],
    ]) {
      const { requestId } = await ask({ group: named, model: 'nobody-has-it' });
      const [line] = await until(async () => {
        const lines = await queries.logBefore(gateway.root, { requestId }, { limit: 1 }, false);
        return lines.length > 0 ? lines : null;
      });
      expect(line).toMatchObject({ type: 5, group: statusAndCode, api_key_name: `playground-${statusAndCode}` });
    }
  });

  test('costs the answer so far when its caller stops it', async () => {
    gateway.provider.script(model, { endless: true });
    await ask({ stream: true }, { headers: own(), enough: (text) => text.includes('"content":"') });
    const story = await until(async () => {
      const { settled } = await newestCall(gateway.config);
      return settled[0] ?? null;
    });
    expect(story).toMatchObject({ outcome: 'caller-left' });
    expect(story.charged).toBeGreaterThan(0);
    expect(await gateway.available(user)).toBe(balance - story.charged);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['is signed out', () => gateway.application.identity.logout(token)],
    ['belongs to a disabled user', () => gateway.application.users.manage(gateway.root, user.actor.id, 'disable')],
  ])('ends when its session %s', async (_, endSession) => {
    gateway.provider.script(model, { endless: true });
    let begun = false;
    const answering = ask(
      { stream: true },
      {
        headers: own(),
        enough: (text) => {
          begun ||= text.includes('"content":"');
          return false;
        },
      },
    );
    const ended = expect(answering).rejects.toThrow();
    await until(async () => (begun ? true : null));
    await endSession();
    await ended;
    const story = await until(async () => (await newestCall(gateway.config)).settled[0] ?? null);
    expect(story.outcome).toBe('caller-left');
  });

  test('is refused to a user with too little quota, and no upstream request is sent', async () => {
    const poor = await gateway.addUser(1, `poor${user.actor.id}`);
    token = (await signIn(gateway.application.identity, poor.username, poor.password)).token;
    expect(statusAndCode(await ask())).toEqual([403, 'insufficient_user_quota']);
    expect(gateway.provider.tally().calls).toBe(0);
  });

  test('counts in the limits of its user, and in no other user’s', async () => {
    await gateway.setOption('ModelRequestRateLimitSuccessCount', '1');
    await gateway.setOption('ModelRequestRateLimitEnabled', 'true');
    try {
      expect((await ask()).status).toBe(200);
      expect(statusAndCode(await ask())).toEqual([429, 'rate_limit_exceeded']);
      const byKey = callers.with(await gateway.addApiKey(user));
      expect(statusAndCode(await byKey.chat({ model }))).toEqual([429, 'rate_limit_exceeded']);
    } finally {
      await gateway.setOption('ModelRequestRateLimitEnabled', 'false');
    }
  });
});

describe('a playground request is refused without cost', () => {
  test.each<[string, () => Record<string, string>, [number, string]]>([
    ['without a session', () => without('cookie'), [401, 'not_signed_in']],
    ['with an unknown session', () => ({ ...own(), cookie: 'session=made-up' }), [401, 'not_signed_in']],
    [
      'with an access token in place of a session',
      () => ({ ...without('cookie'), authorization: 'Bearer some-access-token' }),
      [400, 'access_token_not_supported'],
    ],
    [
      'without a header that only the console sends',
      () => without('x-tallygate-client'),
      [401, 'client_header_missing'],
    ],
    ['in another user’s name', () => ({ ...own(), 'new-api-user': '999999' }), [401, 'user_mismatch']],
    [
      'in the form of an HTML form',
      () => ({ ...own(), 'content-type': 'text/plain' }),
      [415, 'unsupported_content_type'],
    ],
    ['without a content type', () => without('content-type'), [415, 'unsupported_content_type']],
    ['by a page of another site', () => ({ ...own(), 'sec-fetch-site': 'cross-site' }), [403, 'foreign_page']],
    ['by a page of a sibling site', () => ({ ...own(), 'sec-fetch-site': 'same-site' }), [403, 'foreign_page']],
    ['by a page with a foreign origin', () => ({ ...own(), origin: 'https://evil.example' }), [403, 'foreign_page']],
  ])('%s', async (_, headers, refusal) => {
    expect(statusAndCode(await ask({}, { headers: headers() }))).toEqual(refusal);
    await untouched();
  });

  test.each<[string, object, [number, string]]>([
    ['for a group the user may not use', { group: 'secret' }, [403, 'group_not_allowed']],
    ['for an unknown group', { group: '__proto__' }, [403, 'group_not_allowed']],
    ['for an invalid group', { group: ['vip'] }, [400, 'invalid_request']],
    ['without a model', { model: undefined }, [400, 'model_required']],
    ['for an unknown model', { model: 'nothing' }, [404, 'model_not_found']],
    ['without messages', { messages: [] }, [400, 'invalid_text_request']],
  ])('%s', async (_, body, refusal) => {
    expect(statusAndCode(await ask(JSON.stringify({ model, messages, ...body })))).toEqual(refusal);
    await untouched();
  });

  test('where no channel of the group has the model', async () => {
    const id = await gateway.addChannel({ models: ['for-vip'], groups: ['vip'] });
    await gateway.setOption('ModelPrice', '{"for-vip":0.001}');
    expect(statusAndCode(await ask({ model: 'for-vip' }))).toEqual([503, 'get_playground_channel_failed']);
    expect(id).toBeGreaterThan(0);
    await untouched();
  });

  test('when the user has been disabled', async () => {
    await gateway.application.visible(await gateway.application.users.manage(gateway.root, user.actor.id, 'disable'));
    expect(statusAndCode(await ask())).toEqual([403, 'user_banned']);
    await untouched();
  });

  test('beyond the concurrency limit of an API key', async () => {
    gateway.provider.script(model, { endless: true });
    await gateway.setOption('general_setting.api_key_concurrency', '1');
    const gone = new AbortController();
    let begun = false;
    const onHeaders = (): void => {
      begun = true;
    };
    const first = ask({ stream: true }, { headers: own(), signal: gone.signal, onHeaders }).catch(() => null);
    await until(async () => (begun ? true : null));
    expect(statusAndCode(await ask())).toEqual([429, 'concurrency_limit_exceeded']);
    gone.abort();
    await first;
    gateway.provider.script(model, {});
    await until(async () => ((await ask()).status === 200 ? true : null));
    await gateway.setOption('general_setting.api_key_concurrency', '0');
  });

  test('for a body that is not JSON, and no page gets a preflight permission', async () => {
    expect(statusAndCode(await ask('{'))).toEqual([400, 'invalid_request']);
    const { status, headers } = await nobody.send('/pg/chat/completions', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([status, headers['access-control-allow-origin']]).toEqual([404, undefined]);
    await untouched();
  });
});

test('a playground request may have the legacy header with the user’s own id', async () => {
  const headers = { ...without('x-tallygate-client'), 'new-api-user': String(user.actor.id) };
  expect((await ask({}, { headers })).status).toBe(200);
});
