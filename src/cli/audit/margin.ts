import { type MarginGroup, type MarginRow, marginGroups, marginRows } from '../../application/audit/margin.js';
import { beginning } from '../../domain/events/events.js';
import { type Decimal, decimal, decimalText, isNegative, isZero } from '../../domain/kernel/decimal.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { optionTable } from '../../domain/options/option-table.js';
import { optionHistory, optionTextsAt } from '../../projections/models/option-history.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { positionBefore } from '../../projections/models/usage-log/usage-log-hours.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { instantGiven } from './moment-options.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;
/** Calls that were written down late are looked for this far back. */
const leadMs = 2 * 3_600_000;

const isGroup = (name: string): name is MarginGroup => (marginGroups as readonly string[]).includes(name);

/** `audit margin --by model [--channel 3] [--from 2026-11-01] [--to 2026-12-01] [--json]`: what was earned by calls. */
export async function auditMargin({ config, log, args }: CommandContext): Promise<void> {
  const options = { by: text, channel: text, from: text, to: text, json: { type: 'boolean' } } as const;
  const { by = 'model', channel, json, ...given } = optionsIn(args, options);
  if (!isGroup(by)) throw new UsageError(`--by: give ${marginGroups.join(', ')}.`);
  if (channel !== undefined && !/^[1-9]\d{0,9}$/.test(channel))
    throw new UsageError(`--channel ${channel}: give the id of a channel, as in 3.`);
  const from = given.from === undefined ? null : instantGiven('from', given.from);
  const to = given.to === undefined ? null : instantGiven('to', given.to);
  await withDatabase(config, log, async ({ pool, store }) => {
    for (const readModel of [usageLog, optionHistory]) await demandWhole({ pool, store }, readModel);
    const db = openReadModels(pool);
    const after = from === null ? beginning : await positionBefore(db, unixSeconds(Instant(from - leadMs)));
    const quotaPerUnit = await quotaPerUnitNow(db);
    const channelId = channel === undefined ? null : ChannelId(Number(channel));
    const rows = await marginRows(store, { by, after, from, to, quotaPerUnit, channelId });
    rows.sort((a, b) => (a.group < b.group ? -1 : 1));
    if (json) console.log(JSON.stringify({ by, rows: rows.map(inWords) }));
    else for (const row of rows) console.log(lineOf(row));
  });
}

async function quotaPerUnitNow(db: ReturnType<typeof openReadModels>): Promise<Decimal> {
  const changed = await optionTextsAt(db, { at: Instant(Date.now()) });
  const text = changed.find(({ key }) => key === 'QuotaPerUnit')?.text ?? optionTable.QuotaPerUnit.initial;
  const quota = decimal(text);
  return isNegative(quota) || isZero(quota) ? decimal(optionTable.QuotaPerUnit.initial) : quota;
}

const inWords = ({ charged, cost, chargedWithoutCost, margin, ...row }: MarginRow) => ({
  ...row,
  ...{ charged: decimalText(charged), cost: decimalText(cost) },
  ...{ chargedWithoutCost: decimalText(chargedWithoutCost), margin: decimalText(margin) },
});

function lineOf(row: MarginRow): string {
  const { group, calls, charged, cost, margin, callsWithoutCost, chargedWithoutCost } = inWords(row);
  const unknown =
    callsWithoutCost === 0 ? '' : `; cost of ${callsWithoutCost} calls not known, charged $${chargedWithoutCost}`;
  return `${group}: ${calls} calls, charged $${charged}, cost $${cost}, margin $${margin}${unknown}`;
}
