import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelView } from '../../../src/application/ports/storage-ports.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { channelBalances } from '../../../src/relay/probes/channel-balance.js';
import { providerOf, providers } from '../../../src/relay/providers/registry.js';
import { AccessTokens } from '../../../src/relay/upstream/access-tokens.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { openControlClient } from '../../../src/relay/upstream/control-client.js';
import { openUpstream } from '../../../src/relay/upstream/upstream.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { MemoryVault } from '../../support/memory/fake-ports.js';
import { refusal } from '../../support/refusal.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* What is asked of each provider that reports balances, and what is read out of what it answers. */

let server: Upstream;
let asked: UpstreamCall[];
/** By path: a body to answer with, or what answers. */
let answers: Record<string, unknown>;
const upstream = openUpstream({ connections: 8, guard: null });
const room = new AnswerRoom(2 ** 30);
const clock = settableClock(Instant(Date.parse('2026-11-22T23:30:00Z')));
const vault = new MemoryVault();
const key = 'sk-planted-key-0123456789';

beforeAll(async () => {
  server = await startUpstream((call, response) => {
    asked.push(call);
    const answer = answers[call.url.split('?')[0] ?? ''];
    if (typeof answer === 'function') (answer as (response: ServerResponse) => void)(response);
    else if (answer === undefined) response.writeHead(404).end('{}');
    else response.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
});
afterAll(async () => {
  await upstream.close();
  await server?.stop();
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const portsWith = (patienceMs?: number, over = upstream) =>
  channelBalances({
    vault,
    clock,
    providerOf,
    authorising: {
      clock,
      sideRequests: openControlClient(over, room, patienceMs),
      accessTokens: new AccessTokens(clock),
    },
  });

const channel = async (type: number, baseUrl = `${server.url}/`): Promise<ChannelView> => ({
  id: ChannelId(1),
  status: 'enabled',
  settings: channelSettings({ type, baseUrl }),
  secrets: { key: await vault.put(key), keyHash: '', proxy: null },
});
const reportedOf = async (type: number, patienceMs?: number) => portsWith(patienceMs).of(await channel(type));
const balanceOf = async (...asked: Parameters<typeof reportedOf>) => (await reportedOf(...asked)).balance;
const unreported = (reason: unknown) => refusal('balance-not-told', { reason: reason as string });

const bearer = `Bearer ${key}`;
const requests = () => asked.map(({ url, headers, body }) => [url, headers.authorization, headers['api-key'], body]);

const one: readonly [type: number, path: string, answer: unknown, balance: string, currency: string | null][] = [
  [12, '/dashboard/billing/credit_grants', { total_granted: 20, total_remaining: 12.5 }, '12.5', null],
  [13, '/dashboard/billing/credit_grants', { total_available: 0.1, total_remaining: 9 }, '0.1', null],
  [20, '/v1/credits', { data: { total_credits: 0.3, total_usage: 0.1 } }, '0.2', 'USD'],
  [25, '/v1/users/me/balance', { code: 0, data: { available_balance: -3.25, cash_balance: 1 } }, '-3.25', null],
  [40, '/v1/user/info', { code: 20_000, data: { balance: '1', totalBalance: '88.00' } }, '88', 'CNY'],
  [
    43,
    '/user/balance',
    {
      balance_infos: [
        { currency: 'USD', total_balance: '1.00' },
        { currency: 'CNY', total_balance: '110.05' },
      ],
    },
    '110.05',
    'CNY',
  ],
];

describe('the balance of an account at a provider', () => {
  test.each(one)('of type %i is requested at %s', async (type, path, answer, balance, currency) => {
    answers[path] = answer;
    expect(await reportedOf(type)).toEqual({ balance, currency });
    expect(requests()).toEqual([[path, bearer, undefined, '']]);
  });

  test.each([
    [1, ''],
    [8, ''],
    [8, '/v1/chat/completions'],
  ])('of type %i at a base URL that ends in "%s" is its limit less its usage', async (type, end) => {
    answers['/v1/dashboard/billing/subscription'] = { hard_limit_usd: 20.1, has_payment_method: true };
    answers['/v1/dashboard/billing/usage'] = { total_usage: 1_234.5 };
    expect(await portsWith().of(await channel(type, server.url + end))).toEqual({ balance: '7.755', currency: 'USD' });
    expect(requests()).toEqual([
      ['/v1/dashboard/billing/subscription', bearer, undefined, ''],
      ['/v1/dashboard/billing/usage?start_date=2026-11-01&end_date=2026-11-23', bearer, undefined, ''],
    ]);
  });

  test('without a payment method counts the usage of a hundred days', async () => {
    answers['/v1/dashboard/billing/subscription'] = { hard_limit_usd: 5 };
    answers['/v1/dashboard/billing/usage'] = { total_usage: 600 };
    expect(await balanceOf(1)).toBe('-1');
    expect(asked[1]?.url).toContain('start_date=2026-08-14&');
  });

  test('of type 10 is requested with the key in a header of its own', async () => {
    answers['/api/report/getUserOverview'] = { success: true, data: { totalPoints: 500 } };
    expect(await balanceOf(10)).toBe('500');
    expect(requests()).toEqual([['/api/report/getUserOverview', undefined, key, '']]);
  });

  test('of type 43 without CNY is that of its other currency, and absent where there is no account', async () => {
    answers['/user/balance'] = { balance_infos: [{ currency: 'USD', total_balance: '3' }] };
    expect(await reportedOf(43)).toEqual({ balance: '3', currency: 'USD' });
    answers['/user/balance'] = { balance_infos: [{ currency: 'gold', total_balance: '3' }] };
    expect(await reportedOf(43)).toEqual({ balance: '3', currency: null });
    answers['/user/balance'] = { balance_infos: [] };
    await expect(balanceOf(43)).rejects.toThrow(unreported('currency CNY not found'));
  });

  test('of other types is not requested', async () => {
    for (const type of [3, 14, 24, 999])
      await expect(balanceOf(type)).rejects.toThrow(refusal('balance-not-implemented'));
    expect(asked).toEqual([]);
  });

  test('is offered for exactly the types that report it', () => {
    const reported = providers.filter(({ reportsBalance }) => reportsBalance).map(({ type }) => type);
    expect(providers.filter(({ type }) => providerOf(type)?.balance !== undefined).map(({ type }) => type)).toEqual(
      reported,
    );
  });
});

describe('a balance query fails', () => {
  const path = '/user/balance';
  const answerWith = (answer: unknown) => {
    answers[path] = answer;
    return balanceOf(43, 300);
  };

  test.each([401, 307, 500, 204])('if the provider answers with status %i', async (status) =>
    expect(
      answerWith((response: ServerResponse) => response.writeHead(status, { location: '/' }).end('{}')),
    ).rejects.toThrow(unreported(`status code: ${status}`)),
  );

  test.each(['', 'no', '[]', 'null', '{"balance_infos":'])('if the provider answers %j', (text) =>
    expect(answerWith(text)).rejects.toThrow(unreported('the answer is no JSON object')),
  );

  test.each([null, 'much', '', {}, true, 1e16, '1e-21', '9'.repeat(41), '0x10'])(
    'if the provider says %j',
    (total_balance) =>
      expect(answerWith({ balance_infos: [{ currency: 'CNY', total_balance }] })).rejects.toThrow(
        unreported('the answer has no number as total_balance'),
      ),
  );

  test('after a bounded wait if the answer is endless or never complete', async () => {
    await expect(
      answerWith((response: ServerResponse) => {
        const more = (): void => void (response.write('x'.repeat(1024)) && setImmediate(more));
        response.on('drain', more);
        more();
      }),
    ).rejects.toThrow(unreported('request to upstream failed'));
    await expect(answerWith((response: ServerResponse) => void response.writeHead(200).write('{'))).rejects.toThrow(
      unreported('the upstream did not answer in time'),
    );
    expect(room.bytes).toBe(0);
  });

  test('with a quoted reason from which the key is removed', async () => {
    answers['/v1/user/info'] = { code: 30_001, message: `no account for ${key} at ${server.url}` };
    await expect(balanceOf(40)).rejects.toThrow(unreported('code: 30001, message: no account for *** at ***'));
    answers['/api/report/getUserOverview'] = { success: false, message: 'x'.repeat(9_000) };
    await expect(balanceOf(10)).rejects.toThrow(unreported(expect.stringMatching(/^message: x{200,300}$/)));
  });

  test('if the address must not be dialled', async () => {
    const guarded = openUpstream({ connections: 1, guard: addressGuard([], async () => []) });
    await expect(portsWith(300, guarded).of(await channel(43))).rejects.toThrow(
      unreported('the address of the upstream is not allowed'),
    );
    await guarded.close();
    expect(asked).toEqual([]);
  });

  test('without an address, or without a key', async () => {
    await expect(portsWith().of(await channel(8, ''))).rejects.toThrow(unreported('this channel has no base URL'));
    const { secrets, ...rest } = await channel(43);
    await vault.drop([secrets.key]);
    await expect(portsWith().of({ ...rest, secrets })).rejects.toThrow(unreported('the key of the channel is missing'));
  });
});
