import { callsOfChannel } from '../../application/audit/calls-of-channel.js';
import { streams } from '../../domain/events/events.js';
import { type Decimal, decimal, isDecimal, isNegative, isZero } from '../../domain/kernel/decimal.js';
import { Failure } from '../../domain/kernel/failure.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../domain/kernel/instant.js';
import {
  type ExportField,
  exportFields,
  exportFormOf,
  exportForms,
  isExportField,
} from '../../domain/reconciliation/export-form.js';
import { columnsIn, ExportRowReader, toldBy } from '../../domain/reconciliation/export-rows.js';
import { isReconciled, maxHeld, Reconciliation } from '../../domain/reconciliation/reconcile.js';
import {
  type Mapping,
  mappingOf,
  providerName,
  usageExportDecider,
} from '../../domain/reconciliation/remembered-columns.js';
import type { ExportRow } from '../../domain/reconciliation/sides.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { positionBefore } from '../../projections/models/usage-log/usage-log-hours.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { exportTable } from './export-file.js';
import { instantGiven } from './moment-options.js';
import { demandWhole } from './read-history.js';
import { reconciliationJson, reconciliationLines } from './reconcile-text.js';

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;
const options = {
  ...{ provider: text, channel: text, file: text, map: texts, model: texts, remember: flag },
  ...{ from: text, to: text, window: text, skew: text, rate: text, tolerance: text, json: flag },
} as const;

const widths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const usualSkewSeconds = 120;
/** Calls before what is asked for are looked at this far back, for where they began. */
const leadMs = 2 * 3_600_000;

/**
 * `audit reconcile --provider openai --channel 3 --file usage.csv`: what the provider's usage export says beside what the
 * log says. Exit code 0 without differences, 1 with some, 2 where the file or an option is wrong.
 */
export async function auditReconcile({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, options);
  const asked = askedFor(given);
  await withDatabase(config, log, async (database) => {
    const mapping = await mappingFor(database, asked, given.remember ?? false);
    const read = await asUsage(() => readExport(asked, mapping));
    const result = await asUsage(() => compare(database, asked, mapping, read));
    if (!isReconciled(result)) process.exitCode = 1;
    const shown = { ...result, ignored: read.ignored };
    console.log(given.json ? reconciliationJson(shown) : reconciliationLines(shown).join('\n'));
  });
}

/** What is wrong with the file is for whoever gave it. */
async function asUsage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid-field') throw error;
    throw new UsageError(`${error.details.field}: give ${error.details.allowed}.`);
  }
}

type Given = ReturnType<typeof optionsIn<typeof options>>;

interface Asked {
  readonly provider: string;
  readonly channelId: ChannelId;
  readonly file: string;
  readonly columns: ReadonlyMap<string, ExportField>;
  readonly models: ReadonlyMap<string, string>;
  readonly from: Instant | null;
  readonly to: Instant | null;
  /** undefined: as the file says. null: each row is a call. */
  readonly widthMs: number | null | undefined;
  readonly skewMs: number;
  readonly rate: Decimal | null;
  readonly tolerance: Decimal | null;
}

function askedFor(given: Given): Asked {
  const { provider, channel, file } = given;
  if (provider === undefined || !providerName.test(provider))
    throw new UsageError(`--provider: give ${Object.keys(exportForms).join(', ')}, or a name of your own with --map.`);
  if (channel === undefined || !/^[1-9]\d{0,9}$/.test(channel))
    throw new UsageError('--channel: give the id of a channel, as in 3.');
  if (file === undefined) throw new UsageError('--file: give the usage export of the provider, CSV or JSON.');
  const columns = pairsIn('map', given.map ?? []);
  for (const [column, field] of columns)
    if (!isExportField(field))
      throw new UsageError(`--map ${column}=${field}: give a field, one of ${exportFields.join(', ')}.`);
  return {
    ...{ provider, channelId: ChannelId(Number(channel)), file },
    columns: columns as ReadonlyMap<string, ExportField>,
    models: pairsIn('model', given.model ?? []),
    from: given.from === undefined ? null : instantGiven('from', given.from),
    to: given.to === undefined ? null : instantGiven('to', given.to),
    widthMs: given.window === undefined ? undefined : widthGiven(given.window),
    skewMs: secondsGiven(given.skew) * 1_000,
    ...{ rate: amountGiven('rate', given.rate, false), tolerance: amountGiven('tolerance', given.tolerance, true) },
  };
}

/** `column=field`, of which the last sign tells them apart. */
function pairsIn(name: string, given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((pair) => {
      const at = pair.lastIndexOf('=');
      if (at < 1 || at === pair.length - 1)
        throw new UsageError(`--${name} ${pair}: give two names with = between them.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function widthGiven(window: string): number | null {
  if (window === 'call') return null;
  if (Object.hasOwn(widths, window)) return widths[window as keyof typeof widths];
  throw new UsageError(`--window ${window}: give call, ${Object.keys(widths).join(', ')}.`);
}

function secondsGiven(skew: string | undefined): number {
  if (skew === undefined) return usualSkewSeconds;
  if (!/^\d{1,5}$/.test(skew)) throw new UsageError(`--skew ${skew}: give seconds, as in 120.`);
  return Number(skew);
}

function amountGiven(name: string, given: string | undefined, isZeroAllowed: boolean): Decimal | null {
  if (given === undefined) return null;
  const amount = given.length <= 40 && isDecimal(given) ? decimal(given) : null;
  if (amount === null || isNegative(amount) || (isZero(amount) && !isZeroAllowed))
    throw new UsageError(`--${name} ${given}: give a number, as in 7.1.`);
  return amount;
}

/** What is given counts; the rest is as it is remembered. */
async function mappingFor({ store, handle }: CommandDatabase, asked: Asked, isRemembered: boolean): Promise<Mapping> {
  const { provider } = asked;
  const events = await store.readStream(streams.usageExports);
  const state = events.reduce(
    (state, { event }) => (event.type === 'UsageExportMapped' ? usageExportDecider.evolve(state, event) : state),
    usageExportDecider.initial,
  );
  const known = mappingOf(state, provider);
  const mapping = {
    columns: new Map([...known.columns, ...asked.columns]),
    models: new Map([...known.models, ...asked.models]),
  };
  if (exportFormOf(provider) === null && mapping.columns.size === 0)
    throw new UsageError(
      `--provider ${provider}: give ${Object.keys(exportForms).join(', ')}, or say with --map what its columns are.`,
    );
  if (isRemembered)
    await handle(usageExportDecider, streams.usageExports, {
      ...{ type: 'RememberColumns', provider },
      ...{ columns: Object.fromEntries(mapping.columns), models: Object.fromEntries(mapping.models) },
    });
  return mapping;
}

async function readExport({ provider, file, widthMs, rate, tolerance }: Asked, mapping: Mapping) {
  const form = exportFormOf(provider) ?? { columns: {} };
  const { names, records } = await exportTable(file);
  const columns = columnsIn(names, form, mapping.columns);
  const isSingle = widthMs === null || (widthMs === undefined && columns.has('request-id'));
  const reader = new ExportRowReader({ columns, form, rate, isSingle });
  const rows: ExportRow[] = [];
  let ignored = 0;
  let widest = 0;
  for await (const record of records) {
    const row = reader.read(record);
    if (row === null) {
      ignored += 1;
      continue;
    }
    if (rows.length >= maxHeld) throw new UsageError(`--file ${file}: at most ${maxHeld} rows are read.`);
    rows.push(row);
    widest = Math.max(widest, row.to - row.from);
  }
  // Rows without an end are of a day, as the exports are that have none.
  const width = isSingle ? null : (widthMs ?? (widest === 0 ? widths.day : widest));
  if (width !== null) checkWindows(file, rows, width);
  const perRow = tolerance ?? { digits: 1n, scale: reader.costScale };
  return { rows, ignored, widthMs: width, told: toldBy(columns, isSingle), perRow };
}

function checkWindows(file: string, rows: readonly ExportRow[], widthMs: number): void {
  for (const { line, from, to } of rows)
    if (Math.floor(from / widthMs) !== Math.floor(Math.max(from, to - 1) / widthMs))
      throw new UsageError(`--file ${file}, line ${line}: its time is of more than one window; give a wider --window.`);
}

async function compare(
  { pool, store }: CommandDatabase,
  { channelId, from, to, skewMs }: Asked,
  { models }: Mapping,
  { rows, ...read }: Awaited<ReturnType<typeof readExport>>,
) {
  if ((await store.readStream(streams.channel(channelId))).length === 0)
    throw new UsageError(`--channel ${channelId}: there is no such channel.`);
  await demandWhole({ pool, store }, usageLog);
  const reconciliation = new Reconciliation({ ...read, skewMs, modelNames: models, from, to });
  for (const row of rows) reconciliation.takeRow(row);
  const period = reconciliation.period();
  const times = { from: Instant(period.from - skewMs), to: Instant(period.to + skewMs) };
  const after = await positionBefore(openReadModels(pool), unixSeconds(Instant(times.from - leadMs)));
  for await (const found of callsOfChannel(store, channelId, { ...times, after }))
    if ('call' in found) reconciliation.takeCall(found.call);
    else reconciliation.takeDoubt(found.doubt);
  return reconciliation.result();
}
