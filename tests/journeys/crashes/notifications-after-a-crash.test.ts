import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import { withDatabase } from '../../../src/cli/database.js';
import { readConfig } from '../../../src/config.js';
import { type SimulatedProvider, startSimulatedProvider } from '../../../src/demo/simulated-provider.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { type MailServer, startMailServer } from '../../support/gateway/mail-server.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* A gateway that is killed between a charge and its notification. */

const outbound = { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' };
let dataDir: string;
let provider: SimulatedProvider;
let mails: MailServer;
let apiKey: string;
let running: GatewayProcess | null = null;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-notify-'));
  provider = await startSimulatedProvider();
  mails = await startMailServer();
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', ...outbound });
  const prepared = await prepareCallerData(config, { upstreamUrl: provider.url, models: ['asked'], quota: 100_000 });
  apiKey = prepared.apiKey;
  const { application, stop } = await startGateway(config, quietLog);
  const { user: root } = await signIn(application.identity, 'root', 'root-password-1');
  for (const [key, value] of [
    ['SMTPServer', mails.host],
    ['SMTPPort', String(mails.port)],
    ['SMTPFrom', 'gateway@mail.example'],
  ] as const)
    await application.options.change(root, key, value);
  await application.users.changeSettings(
    { id: prepared.userId, role: 'ordinary' },
    {
      notifyType: 'email',
      quotaWarningThreshold: 1_000_000,
      webhookUrl: '',
      webhookSecret: '',
      notificationEmail: 'caller@mail.example',
      acceptUnpricedModels: false,
    },
  );
  await stop();
});
afterAll(async () => {
  await running?.kill();
  await provider?.stop();
  await mails?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function callWith({ url }: GatewayProcess): Promise<void> {
  const callers = openCallers(url);
  expect((await callers.with(apiKey).chat({ model: 'asked' })).status).toBe(200);
  await callers.close();
}

const reminder = { subject: '您的额度即将用尽' };

test('a notification that a dead process had not yet found is sent by the next one', async () => {
  running = await startGatewayProcess(dataDir, outbound);
  await callWith(running);
  // Seconds before anybody looks whether there is something to be sent.
  await running.kill();
  expect(mails.received).toEqual([]);
  running = await startGatewayProcess(dataDir, outbound);
  expect(await mails.mailTo('caller@mail.example')).toMatchObject(reminder);
}, 90_000);

test('a notification that a dead process could not send is sent by the next one', async () => {
  const before = mails.received.length;
  const here = running;
  if (here === null) throw new Error('no gateway is running');
  await mails.stop();
  await callWith(here);
  await until(async () => here.logged.find((line) => line.includes('a mail could not be sent')) ?? null);
  await here.kill();
  // What was being tried when a process died is left alone for a while; the while is over.
  const config = readConfig({ DATA_DIR: dataDir });
  const { rowCount } = await withDatabase(config, quietLog, ({ pool }) =>
    pool.query('update notifications set next_try_at = 0 where outcome is null and next_try_at > $1', [Date.now()]),
  );
  expect(rowCount).toBe(1);
  await mails.start();
  running = await startGatewayProcess(dataDir, outbound);
  await until(async () => (mails.received.length > before ? true : null), 60_000);
  expect(mails.received.at(-1)).toMatchObject(reminder);
}, 120_000);
