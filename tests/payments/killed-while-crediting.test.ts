import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/bootstrap/gateway.js';
import { withDatabase } from '../../src/cli/database.js';
import { type Recorded, type StreamName, streams } from '../../src/domain/events/events.js';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { type Answered, type Client, send, signIn } from '../rest-compat/rest-server.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.js';
import { expectLedgersToAgree, ledgerAtRest, ownedBy } from '../support/gateway/ledger-snapshot.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { quietLog } from '../support/quiet-log.js';
import { until } from '../support/until.js';
import { type PaymentWorld, startPayments } from './setting.js';

/*
 * A gateway that is killed between hearing of a payment, or taking a code, and saying so. The cashier repeats its notice;
 * when it is asked it says that nobody has paid, so that nothing but the notice can credit. Who redeems a code asks again.
 */

const tenDollars = 5_000_000;
const codeWorth = 700_000;

let world: PaymentWorld;
let alice: TestUser;
let client: Client;
let running: GatewayProcess | null = null;
let successor: Gateway | null = null;
let variables: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await startPayments();
  const { config } = world.gateway;
  alice = await world.gateway.addUser(0, 'alice');
  client = await signIn(world.gateway.url, alice.username, alice.password);
  variables = {
    DATABASE_URL: config.database.url ?? '',
    SECRET_KEY: config.vault.secretKey ?? '',
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
  };
}, 60_000);
afterAll(async () => {
  await running?.kill();
  await successor?.stop();
  await world?.stop();
});

async function start(): Promise<GatewayProcess> {
  running = await startGatewayProcess(world.gateway.config.database.dataDir, variables);
  return running;
}

/** What credits once, whoever is killed over it. */
interface Credit {
  readonly kind: 'payment' | 'code';
  readonly stream: StreamName;
  readonly quota: number;
  /** What is heard; null: nothing. */
  ask(gateway: { readonly url: string }): Promise<unknown>;
  /** What is heard of it once it was done. */
  readonly done: unknown;
}

const heard = (answer: Promise<Answered>): Promise<Answered | null> => answer.catch(() => null);

/** Her browser has brought the form to the cashier. */
async function payment(): Promise<Credit> {
  const { json } = await client.post('/api/user/pay', { amount: 10, payment_method: 'zfb' });
  world.epayServer.post(json.data as Record<string, string>);
  const { out_trade_no: id } = json.data as { out_trade_no: string };
  return {
    kind: 'payment',
    stream: streams.payment(PaymentId(id)),
    quota: tenDollars,
    done: 'success',
    ask: async ({ url }) =>
      (await heard(send(url, 'GET', `/api/user/epay/notify?${world.epayServer.notice(id)}`)))?.text ?? null,
  };
}

const issuedCodes: string[] = [];

/** Her client names its order, and repeats it under that name. */
async function redemption(): Promise<Credit> {
  const { application, root } = world.gateway;
  const { codes, position } = await application.redemptions.issue(root, { name: 'gift', quota: codeWorth }, 1);
  await application.visible(position);
  const [issued] = codes;
  if (issued === undefined) throw new Error('no code was issued');
  issuedCodes.push(issued.code);
  return {
    kind: 'code',
    stream: streams.redemption(issued.id),
    quota: codeWorth,
    done: { success: true, message: '', data: codeWorth },
    ask: async ({ url }) => (await heard(redeem(url, issued.code, `redeem-${issued.id}`)))?.json ?? null,
  };
}

const redeem = (url: string, code: string, key?: string): Promise<Answered> =>
  send(url, 'POST', '/api/user/topup', {
    headers: { ...client.headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body: { key: code },
  });

const credits = (events: readonly Recorded[], { stream }: Credit) =>
  events.flatMap((recorded) => {
    const { event } = recorded;
    if (recorded.stream !== stream) return [];
    return event.type === 'TopUpCompleted' || event.type === 'RedemptionCodeRedeemed' ? [event] : [];
  });

test('a process killed at any point credits a repeated payment once, and the ledger is balanced', async () => {
  const [underway, unheard, behind] = [await payment(), await redemption(), [await payment(), await redemption()]];
  const all = [underway, unheard, ...behind];
  const { config } = world.gateway;
  await world.gateway.stopKeepingData();

  await withDatabase(config, quietLog, async (database) => {
    const locker = database.newClient();
    await locker.connect();
    const isWaiting = async (): Promise<true | null> => {
      const { rows } = await locker.query(`select from pg_locks where not granted and relation = 'events'::regclass`);
      return rows.length > 0 ? true : null;
    };
    const isCredited = async (credit: Credit): Promise<true | null> => {
      const events = await database.store.readStream(credit.stream);
      return credits(events, credit).length > 0 ? true : null;
    };
    try {
      // One is with Postgres, which takes nothing yet; the others come behind it.
      const first = await start();
      await locker.query('begin; lock table events in share mode');
      const cutOff = [underway.ask(first)];
      await until(isWaiting);
      cutOff.push(...behind.map((credit) => credit.ask(first)));
      await first.kill();
      expect(await Promise.all(cutOff)).toEqual([null, null, null]);
      await locker.query('commit');
      await until(() => isCredited(underway));
      expect(await Promise.all(behind.map(isCredited))).toEqual([null, null]);

      // Written, and nobody is left who would say so.
      const second = await start();
      await locker.query('begin; lock table events in share mode');
      const answer = unheard.ask(second);
      await until(isWaiting);
      second.pause();
      await locker.query('commit');
      await until(() => isCredited(unheard));
      await second.kill();
      expect(await answer).toBeNull();

      successor = await startGateway(config, quietLog);
      const { url } = successor;
      for (const { kind, ask, done } of [...all, ...all]) expect([kind, await ask({ url })]).toEqual([kind, done]);
      for (const code of issuedCodes)
        expect((await redeem(url, code)).json).toMatchObject({ success: false, message: '兑换失败，该兑换码已被使用' });
      const books = await ledgerAtRest(database);
      expect(all.map((credit) => credits(books.events, credit).map(({ quota }) => quota))).toEqual(
        all.map(({ quota }) => [quota]),
      );
      expect(ownedBy(books, alice.actor.id)).toBe(2 * tenDollars + 2 * codeWorth);
      await expectLedgersToAgree(database, books);
    } finally {
      await locker.end();
    }
  });
}, 120_000);
