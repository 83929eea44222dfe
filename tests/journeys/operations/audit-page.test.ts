import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/adapters/clock.js';
import { sealReading } from '../../../src/adapters/seals/seal-reading.js';
import { closePeriod } from '../../../src/application/books/close-period.js';
import { sealNewEvents } from '../../../src/application/seals/sealer.js';
import { closePortsOf } from '../../../src/cli/audit/close.js';
import { audit } from '../../../src/cli/audit.js';
import { withDatabase } from '../../../src/cli/database.js';
import type { CallSettled } from '../../../src/domain/call/call.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { graceMs } from '../../../src/domain/ledger/closing.js';
import { Period, periodBounds } from '../../../src/domain/ledger/period.js';
import { priceFileOf } from '../../../src/domain/pricing/records/price-file.js';
import { repairDecider } from '../../../src/domain/repair/repair.js';
import { auditCommands, expectedOfAudit } from '../../support/audit-page.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { quietLog } from '../../support/quiet-log.js';

/*
 * Every command of docs/audit.md, as a reader types it one after the other: on a small gateway in which there is what the
 * page names. Only days, request ids, heads and keys are others.
 */

/** What a channel serves in this test, so that each has answered one call. */
const modelOf: Readonly<Record<number, string>> = { 3: 'gpt-4o-mini', 4: 'gpt-4o', 5: 'gpt-4.1-mini' };
const dayMs = 86_400_000;
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

const thisMonth = Period(day(Date.now()).slice(0, 7));

let gateway: TestGateway;
let folder: string;
let requestId: string;

/** The page's user 7 with key 12, administrator 2, and channels 3 to 5, each of which has answered a call. */
async function fill(): Promise<void> {
  const { application, root, url } = gateway;
  const users = [];
  for (let id = 2; id <= 7; id++) users.push(await gateway.addUser(id === 7 ? 50_000_000 : 0));
  const [second, seventh] = [users.at(0), users.at(-1)];
  if (second === undefined || seventh === undefined) throw new Error('There are six');
  await application.visible(await application.users.manage(root, second.actor.id, 'promote'));
  for (let id = 1; id <= 5; id++) await gateway.addChannel({ models: [modelOf[id] ?? 'gpt-4o-audio-preview'] });
  let key = '';
  for (let id = 1; id <= 12; id++) key = await gateway.addApiKey(seventh);
  for (const model of Object.values(modelOf)) {
    const body = JSON.stringify({ model, max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(answer.status, await answer.text()).toBe(200);
    requestId = answer.headers.get('x-request-id') ?? '';
  }
  const administrator = { ...second.actor, role: 'admin' } as const;
  await application.visible(await application.channels.setEnabled(administrator, ChannelId(5), false));
}

/** What the providers of channels 3 to 5 would list of these calls, and another price table. */
async function writeFiles(calls: readonly (CallSettled & { readonly at: Instant })[]): Promise<void> {
  const [openai, azure, house] = [3, 4, 5].map((id) => {
    const call = calls.find(({ channelId }) => channelId === id);
    if (call === undefined) throw new Error('a channel without a call');
    const { input = 0, output = 0 } = call.usage;
    return { date: day(call.at), start: Date.parse(day(call.at)) / 1000, input, output };
  });
  const thousands = (count = 0) => String(count / 1000);
  const files: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
    'usage.csv': [
      ['start_time', 'end_time', 'model', 'num_model_requests', 'input_tokens', 'output_tokens'],
      [openai?.start, Number(openai?.start) + 86_400, 'gpt-4o-mini-2024-07-18', 1, openai?.input, openai?.output],
    ],
    'costs.csv': [
      ['Date', 'MeterName', 'Quantity', 'UnitOfMeasure'],
      [azure?.date, 'gpt 4o 1120 Inp glbl Tokens', thousands(azure?.input), '1K'],
      [azure?.date, 'gpt 4o 1120 Outp glbl Tokens', thousands(azure?.output), '1K'],
    ],
    'bill.csv': [
      ['When', 'Name', 'In', 'Out'],
      [house?.date, 'gpt-4.1-mini', house?.input, house?.output],
    ],
  };
  for (const [name, rows] of Object.entries(files))
    await writeFile(join(folder, name), rows.map((row) => `${row.join(',')}\r\n`).join(''));
  const dearer = Object.values(modelOf).map((model) => ({ model, periods: [{ call: '9' }] }));
  await writeFile(join(folder, 'prices.json'), priceFileOf(dearer));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-page-'));
  gateway = await startTestGateway();
  await fill();
  await withDatabase(gateway.config, quietLog, async (database) => {
    const { events } = await ledgerAtRest(database);
    await writeFiles(events.flatMap(({ at, event }) => (event.type === 'CallSettled' ? [{ ...event, at }] : [])));
  });
  await gateway.stopKeepingData();
  await withDatabase(gateway.config, quietLog, async (database) => {
    await sealNewEvents({ ...sealReading(database.pool), vault: database.vault, clock: systemClock });
    // The page's month: it is over by another clock.
    const clock = settableClock(Instant(periodBounds(thisMonth).until + graceMs));
    await closePeriod({ ...closePortsOf(database), clock }, thisMonth);
  });
});
afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly printed: string;
}

/** In this process, as `npm run audit` does it in one of its own. */
async function run(program: string, args: readonly string[]): Promise<Ran> {
  if (program !== 'audit') {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, program), ...args]);
    return { code: 0, printed: stdout };
  }
  const printed: string[] = [];
  const take = (text: string | Uint8Array): true => {
    printed.push(typeof text === 'string' ? text : Buffer.from(text).toString());
    return true;
  };
  const taken = [
    vi.spyOn(console, 'log').mockImplementation((line: string) => void take(`${line}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation(take),
    vi.spyOn(process.stderr, 'write').mockReturnValue(true),
  ];
  try {
    await audit({ config: gateway.config, log: quietLog, args });
    return { code: Number(process.exitCode ?? 0), printed: printed.join('') };
  } finally {
    process.exitCode = 0;
    for (const spy of taken) spy.mockRestore();
  }
}

/** What the page can only name, as it is here. */
async function asItIsHere(arg: string, before: string, given: readonly string[]): Promise<string> {
  if (arg === 'REQUEST_ID') return requestId;
  const firstLineOf = async (...args: string[]) => (await run('audit', args)).printed.replace(/\n.*/s, '');
  if (before === '--period') return thisMonth;
  if (arg === 'DIGEST') {
    const preview = await run('audit', ['repair', 'preview', ...given.slice(2, -1)]);
    return /Digest: (\w+)/.exec(preview.printed)?.[1] ?? '';
  }
  if (arg === 'KEY') return firstLineOf('seals', 'public-key');
  if (arg === 'NUMBER:DIGEST') return firstLineOf('seals', 'head');
  if (arg === 'keys.txt') await writeFile(join(folder, arg), (await run('audit', ['seals', 'public-key'])).printed);
  if (/^\d{4}-\d\d-\d\d/.test(arg)) return day(Date.now() + (before === '--from' ? -dayMs : dayMs));
  return /\.(?:json|ndjson|csv|txt|gz)$/.test(arg) ? join(folder, arg) : arg;
}

/** The page's repair is ordered while no gateway serves, and nothing is detached before it has ended. */
const endRepairs = () =>
  withDatabase(gateway.config, quietLog, async ({ handle, store }) => {
    const none = { calls: 0, given: '0', taken: '0' };
    const event = { type: 'RepairEnded', posted: none, changed: 0, isAbandoned: true } as const;
    for (const { stream, event: ordered } of await store.readNewest(1_000))
      if (ordered.type === 'RepairOrdered') await handle(repairDecider, stream, { type: 'End', event });
  });

const contentOf = async (name: string): Promise<string> => {
  const content = await readFile(join(folder, name));
  return (name.endsWith('.gz') ? gunzipSync(content) : content).toString();
};

describe('a reader of the page types', () => {
  test.each(auditCommands.map((command) => [command.name, command] as const))(
    '%s',
    async (name, { program, args, into }) => {
      const wanted = expectedOfAudit[name];
      if (wanted === undefined) throw new Error('it has no line in tests/support/audit-page.ts');
      const given: string[] = [];
      for (const [index, arg] of args.entries()) given.push(await asItIsHere(arg, args[index - 1] ?? '', given));
      if (args.includes('--detach')) await endRepairs();
      const { code, printed } = await run(program, given);
      expect(printed).toMatch(wanted.prints);
      expect(code).toBe(wanted.code ?? 0);
      if (into !== null) await writeFile(join(folder, into), printed);
      if (wanted.writes !== undefined) expect(await contentOf(wanted.writes[0])).toMatch(wanted.writes[1]);
    },
  );
});
