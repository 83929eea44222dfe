import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appendHead } from '../../../src/adapters/seals/head-file.js';
import { deliverSealHead } from '../../../src/application/notifications/deliver-seal-head.js';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import type { Mail, OutboundRequest } from '../../../src/application/ports/outbound-ports.js';
import type { Seal } from '../../../src/application/ports/seal-ports.js';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { headText } from '../../../src/application/seals/compare-head.js';
import { sealLine } from '../../../src/application/seals/sealed-export.js';
import { sealHeadSender } from '../../../src/application/seals/send-seal-heads.js';
import { Position } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { type Notification, sealHeadNews } from '../../../src/domain/user/notification.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

const hourMs = 3_600_000;
const prices = defaultPrices(someInstant);
const settingsWith = (options: Readonly<Record<string, string>>) =>
  settingsFrom(new Map(Object.entries(options)), prices, initialOptions(prices));

const sealOf = (number: number): Seal => ({
  number,
  first: Position(number * 10),
  last: Position(number * 10 + 9),
  events: 10,
  eventsHash: 'e'.repeat(64),
  previous: '0'.repeat(64),
  at: someInstant,
  keyId: 'k'.repeat(16),
  signature: 'signed',
});

describe('the head of the seals', () => {
  let newest: Seal | null;
  let waiting: { id: string; notification: Notification }[];
  let appended: string[];
  let warned: string[];

  const sender = (options: Readonly<Record<string, string>>, hasFile = true, begin = someInstant) => {
    const clock = settableClock(begin);
    const send = sealHeadSender({
      clock,
      seals: { newest: async () => newest },
      settings: () => settingsWith(options),
      notify: async (_, notification, { id }) => {
        if (!waiting.some((known) => known.id === id)) waiting.push({ id, notification });
      },
      root: async () => UserId(1),
      append: hasFile ? async (line) => void appended.push(line) : null,
      log: { warn: (_, message) => void warned.push(message) },
    });
    return { clock, send };
  };
  beforeEach(() => {
    [newest, waiting, appended, warned] = [sealOf(4), [], [], []];
  });

  test('goes nowhere until an option says where', async () => {
    await sender({}).send();
    expect([waiting, appended]).toEqual([[], []]);
  });

  const toHook = {
    'general_setting.seal_head_delivery': 'webhook',
    'general_setting.seal_head_address': 'https://hooks.example/heads',
  };

  test('waits in the queue once for each interval, also after a restart', async () => {
    const options = { ...toHook, 'general_setting.seal_head_hours': '2' };
    const { clock, send } = sender(options);
    await send();
    await send();
    await sender(options).send();
    expect(waiting.map(({ notification }) => notification.values)).toEqual([
      [headText(sealOf(4)), sealLine(sealOf(4))],
    ]);
    newest = sealOf(9);
    clock.advance(2 * hourMs);
    await send();
    expect(waiting.map(({ notification }) => notification.values[0])).toEqual([4, 9].map((n) => headText(sealOf(n))));
  });

  test('is added to the file, and without a file that is said in the log', async () => {
    const options = { 'general_setting.seal_head_delivery': 'file' };
    await sender(options).send();
    expect(appended).toEqual([sealLine(sealOf(4))]);
    await sender(options, false).send();
    expect(warned).toEqual([expect.stringContaining('SEAL_HEAD_FILE names no file')]);
  });

  test('is sent in the same interval once there is a seal', async () => {
    newest = null;
    const { send } = sender(toHook);
    await send();
    newest = sealOf(0);
    await send();
    expect(waiting).toHaveLength(1);
  });

  test.each([
    ['an address', { 'general_setting.seal_head_address': 'https://hooks.example/heads' }, {}],
    [
      'a mail server',
      { SMTPServer: 'mail.example', SMTPAccount: 'gateway@mail.example' },
      { 'general_setting.seal_head_delivery': 'mail', 'general_setting.seal_head_address': 'books@auditor.example' },
    ],
  ])(
    'is sent in the same interval once there is %s, and until then its lack is logged once',
    async (_, more, first) => {
      const options: Record<string, string> = { 'general_setting.seal_head_delivery': 'webhook', ...first };
      const { send } = sender(options);
      await send();
      await send();
      expect([waiting, warned]).toEqual([[], [expect.stringContaining('the head of the seals goes nowhere')]]);
      Object.assign(options, more);
      await send();
      expect(waiting).toHaveLength(1);
    },
  );

  test('is sent again where its address is changed', async () => {
    const options: Record<string, string> = { ...toHook };
    const { send } = sender(options);
    await send();
    options['general_setting.seal_head_address'] = 'https://other.example/heads';
    await send();
    await send();
    expect(waiting).toHaveLength(2);
  });
});

describe('the delivery of a head', () => {
  const news = sealHeadNews('4:abc', '{"seal":[]}');
  const asked: OutboundRequest[] = [];
  const mails: Mail[] = [];
  const deliver = (options: Readonly<Record<string, string>>, status = 200) =>
    deliverSealHead(
      {
        outbound: {
          fetch: async (request) => {
            asked.push(request);
            return { ok: true, status, headers: new Map(), body: Buffer.alloc(0) };
          },
        },
        clock: settableClock(someInstant),
        settings: () => settingsWith(options),
        secretOf: async () => 'shared',
        mailer: { send: async (mail) => void mails.push(mail) },
      },
      news,
    );

  test('by webhook is signed, and is tried again where it is refused', async () => {
    const options = {
      'general_setting.seal_head_delivery': 'webhook',
      'general_setting.seal_head_address': 'https://hooks.example/heads',
    };
    expect(await deliver(options)).toEqual({ ok: true });
    expect(asked[0]).toMatchObject({ url: 'https://hooks.example/heads', method: 'POST' });
    expect(asked[0]?.headers?.['X-Webhook-Signature']).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.parse(String(asked[0]?.body))).toMatchObject({ type: 'seal_head', values: ['4:abc', '{"seal":[]}'] });
    expect(await deliver(options, 500)).toEqual({ ok: false, reason: 'it was answered with status 500' });
  });

  test('by mail goes to the addresses of the option', async () => {
    const options = {
      'general_setting.seal_head_delivery': 'mail',
      'general_setting.seal_head_address': 'books@auditor.example',
      SMTPServer: 'mail.example',
      SMTPAccount: 'gateway@mail.example',
    };
    expect(await deliver(options)).toEqual({ ok: true });
    expect(mails[0]).toMatchObject({ to: 'books@auditor.example', text: 'The newest seal: 4:abc\n{"seal":[]}' });
  });

  test.each([
    [{}, 'not sent any more'],
    [{ 'general_setting.seal_head_delivery': 'webhook' }, 'has no address'],
    [
      { 'general_setting.seal_head_delivery': 'mail', 'general_setting.seal_head_address': 'a@b.example' },
      'no mail server',
    ],
  ])('with %j is skipped, as trying again will not help', async (options, reason) => {
    expect(await deliver(options)).toEqual({ ok: 'skipped', reason: expect.stringContaining(reason) });
  });
});

describe('the file of heads', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heads-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has each head in a line of its own, once, for its owner alone', async () => {
    const path = join(folder, 'heads.ndjson');
    for (const line of ['one', 'one', 'two', 'two', 'one']) await appendHead(path, line);
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\none\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('keeps what a crash has left of a line apart from the next one', async () => {
    const path = join(folder, 'cut.ndjson');
    await writeFile(path, 'on');
    await appendHead(path, 'one');
    expect(await readFile(path, 'utf8')).toBe('on\none\n');
  });
});
