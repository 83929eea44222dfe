import { readFile } from 'node:fs/promises';
import { postgresSettledCalls } from '../../adapters/event-log/settled-calls.js';
import { type WhatIf, type WhatIfRow, whatIf, worked } from '../../application/audit/what-if.js';
import { ratioPattern } from '../../application/audit/what-if-queries.js';
import { initialOptions } from '../../application/options/initial-options.js';
import { defaultPrices } from '../../application/prices/default-prices.js';
import { beginning } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { RatioTable } from '../../domain/pricing/price-tables.js';
import { maxPriceFileBytes, readPriceFile } from '../../domain/pricing/records/price-file.js';
import type { PriceRecords } from '../../domain/pricing/records/price-records.js';
import { optionHistory, optionTextsAt } from '../../projections/models/option-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { instantGiven } from './moment-options.js';
import { progressOn } from './progress.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;
const options = {
  from: text,
  to: text,
  prices: text,
  'group-ratio': { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const;

/** Rows that are printed of each list. */
const shown = 20;

/**
 * `audit what-if --from 2026-11-01 --to 2026-12-01 [--prices FILE] [--group-ratio vip=0.8]… [--json]`: what the calls of a
 * period would have cost by the price table in a file and by other ratios of groups, beside what they did cost.
 */
export async function auditWhatIf({ config, log, args }: CommandContext): Promise<void> {
  const { from, to, prices, 'group-ratio': ratios, json } = optionsIn(args, options);
  if (from === undefined || to === undefined) throw new UsageError('Give --from and --to, as in 2026-11-01.');
  const period = { from: instantGiven('from', from), to: instantGiven('to', to) };
  if (period.from >= period.to) throw new UsageError('Give a --to that is later than --from.');
  const records = prices === undefined ? new Map() : await pricesGiven(prices);
  const groupRatio = groupRatiosGiven(ratios ?? []);
  await withDatabase(config, log, async (database) => {
    const { pool, store } = database;
    const others = { records, groupRatio, quotaPerUnit: await quotaPerUnitNow(database) };
    const part = { after: beginning, upTo: await store.head() };
    const steps = whatIf({ calls: postgresSettledCalls(pool), store }, part, period, others);
    const progress = progressOn(process.stderr);
    const found = await worked(steps, (position) => progress?.(Number(position)));
    if (json) console.log(JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
    else for (const line of linesOf(found)) console.log(line);
  });
}

export async function quotaPerUnitNow({ pool, store }: Pick<CommandDatabase, 'pool' | 'store'>): Promise<string> {
  await demandWhole({ pool, store }, optionHistory);
  const now = Instant(Date.now());
  const changed = await optionTextsAt(openReadModels(pool), { at: now });
  const key = 'QuotaPerUnit';
  return changed.find((option) => option.key === key)?.text ?? initialOptions(defaultPrices(now)).get(key) ?? '';
}

export async function pricesGiven(path: string): Promise<PriceRecords> {
  const file = await readFile(path).catch(() => {
    throw new UsageError(`--prices ${path}: it cannot be read.`);
  });
  if (file.length > maxPriceFileBytes)
    throw new UsageError(`--prices ${path}: it may have ${maxPriceFileBytes} bytes at most.`);
  try {
    const { prices, faults } = readPriceFile(file.toString('utf8'));
    const [fault] = faults;
    if (fault !== undefined) throw new UsageError(`--prices ${path}: ${fault.field} must be ${fault.allowed}.`);
    return new Map(prices.map(({ model, periods }) => [model, periods]));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new UsageError(`--prices ${path}: it must be ${error.details.allowed}.`);
  }
}

export function groupRatiosGiven(given: readonly string[]): RatioTable {
  const ratios = new Map<string, string>();
  for (const one of given) {
    const [, group, ratio] = /^(.{1,64})=([^=]*)$/.exec(one) ?? [];
    if (group === undefined || ratio === undefined || !ratioPattern.test(ratio))
      throw new UsageError(`--group-ratio ${one}: give a group and what it multiplies prices by, as in vip=0.8.`);
    ratios.set(group, ratio);
  }
  return ratios;
}

const signed = (amount: bigint): string => (amount > 0n ? `+${amount}` : String(amount));

const sums = ({ calls, actual, hypothetical }: Pick<WhatIfRow, 'calls' | 'actual' | 'hypothetical'>): string =>
  `${calls} calls, ${actual} -> ${hypothetical} (${signed(hypothetical - actual)})`;

function listOf(title: string, rows: readonly WhatIfRow[]): string[] {
  const lines = rows
    .slice(0, shown)
    .map(({ userId, model, ...row }) => `  user ${userId}${model === null ? '' : `, ${model}`}: ${sums(row)}`);
  return [title, ...lines, ...(rows.length > shown ? [`  and ${rows.length - shown} more`] : [])];
}

function linesOf(found: WhatIf): string[] {
  const { users, models, unpriced } = found;
  const dearer = users.filter(({ actual, hypothetical }) => hypothetical > actual).length;
  return [
    `All: ${sums(found)}`,
    ...(unpriced > 0 ? [`${unpriced} calls have no price by the file, and count with what they cost.`] : []),
    `${dearer} of ${users.length} users would pay more.`,
    ...listOf('Users:', users),
    ...listOf('Users and models:', models),
  ];
}
