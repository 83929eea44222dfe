import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { type Caller, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import type { Upstream } from '../../support/upstreams/upstream.js';
import { startUsageUpstream } from '../../support/upstreams/usage-upstream.js';

/* An older client changes one entry of a map of prices, and has only copied the others. */

/** Its input costs twice as much from the first of January 2027. */
const dated = 'gemini-3.8-flash';
const newYear = Date.UTC(2027, 0, 1);
let now = newYear - 60_000;
const clock = { now: () => Instant(now) };

let gateway: TestGateway;
let successor: Gateway | undefined;
let upstream: Upstream;
let user: TestUser;
let apiKey: string;
const closing: { close(): Promise<unknown> }[] = [];

const caller = (url: string): Caller => {
  const callers = openCallers(url);
  closing.push(callers);
  return callers.with(apiKey);
};

beforeAll(async () => {
  gateway = await startTestGateway({}, { workers: 1, clock });
  upstream = await startUsageUpstream('openai', () => ({
    usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 },
  }));
  await gateway.addChannel({ models: [dated, 'own'], baseUrl: upstream.url });
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
});
afterAll(async () => {
  for (const one of closing) await one.close();
  await successor?.stop();
  await gateway?.stop();
  await upstream?.stop();
});

type Running = Pick<Gateway, 'application'>;

const ratiosOf = ({ application }: Running): Record<string, number> =>
  JSON.parse(application.options.list(gateway.root).find(({ key }) => key === 'ModelRatio')?.value ?? '');

test('a copied built-in price changes on its date, in calls and maps; a changed one stays, also after a restart', async () => {
  const { application, root } = gateway;
  const { options } = application;
  const read = options.readMaps(root).get('ModelRatio');
  const ratios: Record<string, number> = { ...ratiosOf(gateway), own: 3 };
  expect(ratios[dated]).toBe(0.375);
  if (read === undefined) throw new Error('no such map');
  await application.visible(await options.changeAsRead(root, 'ModelRatio', JSON.stringify(ratios), read));
  expect(ratiosOf(gateway)).toEqual(ratios);

  const charged = async (by: Caller, model: string, { application }: Running = gateway): Promise<number> => {
    const answer = await by.chat({ model });
    expect(answer.status, answer.text).toBe(200);
    return (await lineOf({ application }, user, answer)).quota;
  };
  const first = caller(gateway.url);
  expect([await charged(first, dated), await charged(first, 'own')]).toEqual([394, 3_030]);
  now = newYear;
  await until(async () => (ratiosOf(gateway)[dated] === 0.75 ? true : null), 20_000);
  expect([await charged(first, dated), await charged(first, 'own')]).toEqual([788, 3_030]);

  // Read before midnight, written after it.
  const late = { ...ratios, own: 4 };
  const { position = read.position } = options.readMaps(root).get('ModelRatio') ?? {};
  await application.visible(
    await options.changeAsRead(root, 'ModelRatio', JSON.stringify(late), { ...read, position }),
  );
  expect(ratiosOf(gateway)).toMatchObject({ own: 4, [dated]: 0.75 });

  await gateway.stopKeepingData();
  successor = await startGateway(gateway.config, quietLog, { clock });
  expect(ratiosOf(successor)).toMatchObject({ own: 4, [dated]: 0.75 });
  const then = caller(successor.url);
  expect([await charged(then, dated, successor), await charged(then, 'own', successor)]).toEqual([788, 4_040]);
});
