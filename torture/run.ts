import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { wantedChannel } from '../src/projections/engine/projector-connection.js';
import { Books } from './checker/books.js';
import {
  checkCalls,
  checkCredits,
  type EarlierCalls,
  remember,
  type ToldCall,
  type ToldCredit,
} from './checker/check-calls.js';
import { checkTables } from './checker/check-tables.js';
import { digestUpTo, type RawEvent, readEvents } from './checker/raw-events.js';
import { bringCredit, type Credit, insistOn } from './credits.js';
import { type Struck, strike } from './faults.js';
import { type MadeCall, runLoad } from './load.js';
import { type CyclePlan, type FaultKind, modelNames, planCycle } from './plan.js';
import { openStand, type Stand } from './stand.js';
import { codeWorth, prepareWorld, prices, type World } from './world.js';

/* Cycles of load, a fault, rest, and a reckoning by the checker. */

export interface TortureOptions {
  /** Empty, and gone afterwards. */
  readonly directory: string;
  readonly cycles: number;
  readonly seed: number;
  /** Only this one; it is made as it would be among the others. */
  readonly only?: number;
  /** Faults last as long as they would in production. */
  readonly long: boolean;
  readonly progress?: (line: string) => void;
  /** Told where it stands, for whoever has to end it before its time. */
  readonly opened?: (stand: Stand) => void;
}

interface CycleReport {
  readonly cycle: number;
  readonly fault: FaultKind;
  readonly what: string;
  readonly outcomes: Readonly<Record<'ok' | 'fail' | 'unknown', number>>;
  readonly charged: number;
  readonly withheldAtDeath: number;
  readonly elapsedMs: number;
  readonly problems: readonly string[];
}

export interface TortureReport {
  readonly seed: number;
  readonly cycles: readonly CycleReport[];
  readonly events: number;
  readonly starts: number;
  /** The gateway ended though nobody had asked it to. */
  readonly unasked: readonly string[];
  readonly elapsedMs: number;
}

/** However slow the machine is: nothing here is about time. */
const patienceMs = 150_000;
const lookMs = 40;
/** Who waits longer says what for. */
const longMs = 20_000;

interface Torture {
  readonly stand: Stand;
  readonly world: World;
  readonly books: Books;
  /** Of the log up to where the books have come. */
  digest: string;
  /** Of all cycles: none may be credited later than it was. */
  readonly credits: Credit[];
  /** By their names. */
  readonly earlier: EarlierCalls;
  readonly progress: (line: string) => void;
}

const costOf = ({ call, outcome }: MadeCall): bigint | null =>
  outcome !== 'ok' || call.tokens === null
    ? null
    : BigInt(prices.input) * BigInt(call.tokens.prompt + prices.outputRatio * call.tokens.completion);

const toldOf = (made: MadeCall): ToldCall => ({
  ...{ model: made.call.model, outcome: made.outcome, status: made.status },
  ...{ requestId: made.requestId, cost: costOf(made) },
});

const creditTold = (world: World, { kind, id, payer, acknowledged }: Credit): ToldCredit => ({
  stream: `${kind === 'code' ? 'redemption' : 'payment'}-${id}`,
  user: world.payers[payer].id,
  acknowledged,
  quota: kind === 'code' ? BigInt(codeWorth) : null,
});

interface Exerted {
  readonly made: readonly MadeCall[];
  readonly credits: readonly Credit[];
  readonly struck: Struck;
}

/** The load of a cycle, with its fault in the middle. */
async function exert({ stand, world }: Torture, plan: CyclePlan, long: boolean): Promise<Exerted> {
  const { provider, payers } = world;
  provider.reset();
  for (const { model, behaviour } of plan.calls) provider.script(model, behaviour);
  const made: MadeCall[] = [];
  const { url } = stand.gateway();
  const apiKeys = Object.fromEntries(Object.entries(payers).map(([payer, { apiKey }]) => [payer, apiKey])) as Record<
    keyof typeof payers,
    string
  >;
  let over = false;
  const load = runLoad({ url, calls: plan.calls, apiKeys, ended: (call) => void made.push(call) }).finally(() => {
    over = true;
  });
  const credits = Promise.all(plan.credits.map((planned) => bringCredit(world, planned, url)));
  // Waited for below: until then nobody may miss that it has failed.
  credits.catch(() => {});
  while (made.length < plan.strikesAfter && !over) await pause(2);
  const struck = await strike(plan.fault, { stand, random: plan.random, long });
  await load;
  return { made, credits: await credits, struck };
}

const openCallsSql = `
  select stream from events where stream like 'call-%' and position > $1
  group by stream having bool_or(type = 'CallReserved') and count(*) filter (where type in ('CallSettled', 'CallReleased')) = 0`;

/** Every call has its outcome, and every read model the whole log. Gives what has been appended since the books. */
async function rested({ stand, books, progress }: Torture): Promise<RawEvent[]> {
  const began = performance.now();
  let isLong = false;
  let waitsFor = '';
  const look = async (client: pg.Client): Promise<RawEvent[] | null> => {
    await client.query('select pg_notify($1, (select max(position)::text from events))', [wantedChannel]);
    const { rows: open } = await client.query<{ stream: string }>(openCallsSql, [String(books.position)]);
    waitsFor = `outcomes of ${open.map(({ stream }) => stream).join(', ')}`;
    if (open.length > 0) return null;
    const events = await readEvents(client, books.position);
    const head = events.at(-1)?.position ?? books.position;
    const { rows: behind } = await client.query<{ name: string }>(
      'select name from projections.checkpoints where position < $1',
      [String(head)],
    );
    waitsFor = `read models ${behind.map(({ name }) => name).join(', ')}`;
    return behind.length === 0 ? events : null;
  };
  for (;;) {
    const news = await stand.sql(look).catch((error: unknown) => {
      waitsFor = String(error);
      return null;
    });
    if (news !== null) return news;
    const waited = performance.now() - began;
    if (waited > patienceMs) throw new Error(`there is no rest: waiting for ${waitsFor}`);
    if (waited > longMs && !isLong) progress(`    waiting for ${waitsFor}`);
    isLong = waited > longMs;
    await pause(lookMs);
  }
}

/** Holds what was told and done against the log, the log against itself, and the read models against the log. */
async function reckon(torture: Torture, { made, credits, struck }: Exerted) {
  const { stand, world, books } = torture;
  const problems: string[] = [];
  for (const credit of credits) {
    torture.credits.push(credit);
    await insistOn(credit, stand.gateway().url, patienceMs);
  }
  const known = new Set(books.calls.keys());
  for (;;) {
    const events = await rested(torture);
    problems.push(...books.fold(events));
    const checked = await stand.sql(async (client) => {
      // A late notice may have come meanwhile: then these would be two moments.
      if ((await readEvents(client, books.position)).length > 0) return null;
      return checkTables(client, books);
    });
    if (checked === null) continue;
    problems.push(...checked);
    break;
  }
  const stories = new Map([...books.calls].filter(([id]) => !known.has(id)));
  const arrivals = world.provider.tally().byModel;
  const done = { told: made.map(toldOf), stories, arrivals };
  const calls = checkCalls({ ...done, killed: struck.killed, earlier: torture.earlier });
  remember(torture.earlier, done);
  const told = torture.credits.filter(({ id }) => id !== null).map((credit) => creditTold(world, credit));
  problems.push(...calls.problems, ...checkCredits(told, books.credits));
  const charged = [...stories.values()].filter(({ settled }) => settled.length > 0).length;
  return { problems, charged, withheldAtDeath: calls.withheldAtDeath };
}

/** What the books were made of is still there, in the same order. */
async function checkDigest(torture: Torture, before: bigint): Promise<string[]> {
  const { stand, books } = torture;
  const [old, now] = await stand.sql(async (client) => [
    await digestUpTo(client, before),
    await digestUpTo(client, books.position),
  ]);
  const same = torture.digest === '' || old === torture.digest;
  torture.digest = now ?? '';
  return same ? [] : [`events up to ${before} are not the same any more`];
}

async function runCycle(torture: Torture, cycle: number, { seed, long }: TortureOptions): Promise<CycleReport> {
  const began = performance.now();
  const { stand, books } = torture;
  const plan = planCycle(seed, cycle);
  // The one that runs will do, unless the fault needs one with workers.
  if (plan.fault === 'kill-worker' || stand.starts === 0) await stand.ensure(plan.workers);
  const unaskedBefore = stand.unasked.length;
  const exerted = await exert(torture, plan, long);
  if (exerted.struck.killed || stand.unasked.length > unaskedBefore) await stand.ensure(plan.workers);
  const before = books.position;
  const { problems, charged, withheldAtDeath } = await reckon(torture, exerted);
  problems.push(...(await checkDigest(torture, before)));
  const outcomes = { ok: 0, fail: 0, unknown: 0 };
  for (const { outcome } of exerted.made) outcomes[outcome]++;
  const { fault } = plan;
  const elapsedMs = Math.round(performance.now() - began);
  return { cycle, fault, what: exerted.struck.what, outcomes, charged, withheldAtDeath, elapsedMs, problems };
}

/** A cycle that could not be brought to its end: calls without an outcome, or a gateway that does not start. */
const broken = (seed: number, cycle: number, error: unknown): CycleReport => ({
  ...{ cycle, fault: planCycle(seed, cycle).fault, what: 'not finished', outcomes: { ok: 0, fail: 0, unknown: 0 } },
  ...{ charged: 0, withheldAtDeath: 0, elapsedMs: 0 },
  problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
});

export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { directory, cycles, seed, only, progress = () => {} } = options;
  const began = performance.now();
  const stand = await openStand(directory);
  options.opened?.(stand);
  let world: World | null = null;
  const reports: CycleReport[] = [];
  const books = new Books();
  try {
    const first = only ?? 0;
    const last = only === undefined ? cycles : only + 1;
    const numbers = Array.from({ length: last - first }, (_, index) => first + index);
    const codes = numbers.flatMap((cycle) => planCycle(seed, cycle).credits).filter(({ kind }) => kind === 'code');
    world = await prepareWorld(stand.dataDir, {
      ...{ cycles: numbers.length, codes: codes.length },
      models: modelNames(numbers),
    });
    const state: Torture = { stand, world, books, digest: '', credits: [], earlier: new Map(), progress };
    for (const cycle of numbers) {
      const report = await runCycle(state, cycle, options).catch((error: unknown) => broken(seed, cycle, error));
      reports.push(report);
      const { fault, what, outcomes, charged, elapsedMs, problems } = report;
      progress(
        `cycle ${cycle} ${fault} (${what}): ${outcomes.ok} ok, ${outcomes.fail} failed, ${outcomes.unknown} unknown, ` +
          `${charged} charged, ${elapsedMs} ms, ${problems.length} problems`,
      );
      for (const problem of problems) progress(`    ${problem}`);
      // What comes after it would be checked against books that are wrong.
      if (problems.length > 0) break;
    }
  } finally {
    await stand.stop();
    await world?.stop();
  }
  const elapsedMs = Math.round(performance.now() - began);
  const events = Number(books.position) + 1;
  return { seed, cycles: reports, events, starts: stand.starts, unasked: stand.unasked, elapsedMs };
}
