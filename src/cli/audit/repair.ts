import { setTimeout as pause } from 'node:timers/promises';
import { postgresDetachedLog } from '../../adapters/archives/detached-log.js';
import { isDatabaseServed } from '../../adapters/database/only-node.js';
import { postgresEventLines } from '../../adapters/seals/event-lines.js';
import { orderRepair, orderUndo } from '../../application/audit/repair/order-repair.js';
import { correctionCells, correctionHeader } from '../../application/audit/repair/repair-file.js';
import {
  previewRepair,
  type RepairPreview,
  type RepairRequest,
} from '../../application/audit/repair/repair-preview.js';
import { Failure } from '../../domain/kernel/failure.js';
import { ApiKeyId, ChannelId, RepairId, UserId } from '../../domain/kernel/ids.js';
import { csvRow } from '../../exports/csv.js';
import { optionHistory } from '../../projections/models/option-history.js';
import { priceHistory } from '../../projections/models/price-history.js';
import { priceRepairRow, priceRepairRows, priceRepairs } from '../../projections/models/price-repairs.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { newFile, unlessUnwritable } from '../new-file.js';
import { instantGiven, momentGiven } from './moment-options.js';
import { progressOn } from './progress.js';
import { demandWhole } from './read-history.js';
import { previewLines, repairJson, repairLine } from './repair-text.js';
import { groupRatiosGiven, pricesGiven, quotaPerUnitNow } from './what-if.js';

/* `audit repair …`: calls that were charged by a wrong price, corrected. */

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;
const requestOptions = {
  ...{ from: text, to: text, model: text, user: text, group: text, channel: text, 'api-key': text },
  ...{ prices: text, 'group-ratio': texts, 'held-at': text, 'held-position': text },
  ...{ charge: flag, json: flag },
} as const;

type Given = Partial<ReturnType<typeof optionsIn<typeof requestOptions>>>;
type RepairCommand = (context: CommandContext) => Promise<void>;

const commands: Readonly<Record<string, RepairCommand>> = {
  preview: repairPreview,
  post: repairPost,
  undo: repairUndo,
  list: repairList,
};

export async function auditRepair({ args, ...context }: CommandContext): Promise<void> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    throw new UsageError(
      `Unknown subcommand "${name}" of audit repair. Subcommands: ${Object.keys(commands).join(', ')}.`,
    );
  await command({ ...context, args: rest });
}

/**
 * `audit repair preview --from 2026-11-01 --to 2026-11-02 (--prices FILE [--group-ratio vip=0.8]… | --held-at 2026-10-31)
 * [--model gpt-4o] [--charge] [--csv FILE] [--json]`: what the repair would post.
 */
async function repairPreview({ config, log, args }: CommandContext): Promise<void> {
  const { csv, ...given } = optionsIn(args, { ...requestOptions, csv: text });
  await withDatabase(config, log, async (database) => {
    const ports = await previewPorts(database);
    const preview = await previewRepair(ports, await requestFrom(database, given), await database.store.head());
    if (csv !== undefined) await writeCorrections(csv, preview);
    if (given.json) {
      const { corrections: _, order, ...rest } = preview;
      console.log(repairJson({ ...order, ...rest }));
    } else for (const line of previewLines(preview)) console.log(line);
  });
}

async function writeCorrections(path: string, { corrections }: RepairPreview): Promise<void> {
  const file = newFile(path);
  const written = new Promise<void>((resolve, reject) => file.once('finish', resolve).once('error', reject));
  file.write(csvRow(correctionHeader));
  for (const correction of corrections) file.write(csvRow(correctionCells(correction)));
  file.end();
  await written.catch(unlessUnwritable('csv', path));
}

/** `audit repair post --digest DIGEST` with the options of the preview that it was printed by. */
async function repairPost({ config, log, args }: CommandContext): Promise<void> {
  const { digest, ...given } = optionsIn(args, { ...requestOptions, digest: text });
  if (digest === undefined) throw new UsageError('--digest: give the one that the preview has printed.');
  await withDatabase(config, log, async (database) => {
    const ports = { ...(await previewPorts(database)), handle: database.handle };
    const request = await requestFrom(database, given);
    const asked = { by: 'cli', request, digest, upTo: await database.store.head() } as const;
    const { id } = await orderRepair(ports, asked).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'repair-preview-outdated') throw error;
      throw new UsageError('--digest: something has changed since the preview. Preview it again.');
    });
    await tellWhenDone(database, id, given.json ?? false);
  });
}

/** `audit repair undo --repair ID [--json]`: takes back what it has posted. */
async function repairUndo({ config, log, args }: CommandContext): Promise<void> {
  const { repair, json = false } = optionsIn(args, { repair: text, json: flag });
  if (repair === undefined || !/^[0-9a-f]{24}$/.test(repair))
    throw new UsageError('--repair: give the id of a repair, as "audit repair list" prints it.');
  await withDatabase(config, log, async (database) => {
    const ports = { ...database, archives: postgresDetachedLog(database.pool) };
    await orderUndo(ports, 'cli', RepairId(repair)).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      if (error.code === 'repair-not-found') throw new UsageError(`--repair ${repair}: there is no such repair.`);
      if (error.code === 'repair-under-way') throw new UsageError(`--repair ${repair}: it is still being posted.`);
      throw error;
    });
    await tellWhenDone(database, RepairId(repair), json);
  });
}

const listed = 100;

/** `audit repair list [--json]`: the newest repairs. */
async function repairList({ config, log, args }: CommandContext): Promise<void> {
  const { json } = optionsIn(args, { json: flag });
  await withDatabase(config, log, async (database) => {
    await demandWhole(database, priceRepairs);
    const rows = await priceRepairRows(openReadModels(database.pool), { before: null, limit: listed });
    if (json) console.log(repairJson(rows));
    else if (rows.length === 0) console.log('Nothing has been repaired.');
    else for (const row of rows) console.log(repairLine(row));
  });
}

const pollMs = 300;

/** The gateway posts it; where none serves, the next one that is started. */
async function tellWhenDone(database: CommandDatabase, id: RepairId, json: boolean): Promise<void> {
  const progress = progressOn(process.stderr, 'calls');
  while (await isDatabaseServed(database.pool)) {
    await demandWhole(database, priceRepairs);
    const row = await priceRepairRow(openReadModels(database.pool), id);
    if (row === null) throw new Failure('repair-not-found');
    if (row.state === 'posted' || row.state === 'undone') {
      console.log(json ? repairJson(row) : repairLine(row));
      return;
    }
    progress?.(row.state === 'posting' ? row.posted.calls : row.undone.calls);
    await pause(pollMs);
  }
  console.log(json ? repairJson({ id, state: 'ordered' }) : `${id} is ordered, and goes on when a gateway is started.`);
}

async function previewPorts(database: CommandDatabase) {
  const { pool, store } = database;
  for (const model of [usageLog, optionHistory, priceHistory, quotaHistory]) await demandWhole(database, model);
  const archives = postgresDetachedLog(pool);
  return {
    db: openReadModels(pool),
    lines: postgresEventLines(pool),
    store,
    archives,
    reading: progressOn(process.stderr),
  };
}

async function requestFrom(database: CommandDatabase, given: Given): Promise<RepairRequest> {
  const { from, to, model, group, user, channel } = given;
  if (from === undefined || to === undefined) throw new UsageError('Give --from and --to, as in 2026-11-01.');
  const scope = {
    ...{ from: instantGiven('from', from), to: instantGiven('to', to) },
    ...{ model: model ?? null, group: group ?? null },
    userId: idGiven('user', user, UserId),
    channelId: idGiven('channel', channel, ChannelId),
    apiKeyId: idGiven('api-key', given['api-key'], ApiKeyId),
  };
  if (scope.from >= scope.to) throw new UsageError('Give a --to that is later than --from.');
  return { scope, isCharging: given.charge ?? false, right: await rightFrom(database, given) };
}

async function rightFrom(database: CommandDatabase, given: Given): Promise<RepairRequest['right']> {
  const { prices, 'group-ratio': ratios, 'held-at': at, 'held-position': position } = given;
  const isHeld = at !== undefined || position !== undefined;
  if (isHeld === (prices !== undefined || ratios !== undefined))
    throw new UsageError(
      'Give the right prices: --held-at, --held-position, or --prices with a price table and --group-ratio.',
    );
  if (isHeld)
    return { heldAt: momentGiven({ ...(at !== undefined && { at }), ...(position !== undefined && { position }) }) };
  const records = prices === undefined ? new Map() : await pricesGiven(prices);
  const quotaPerUnit = await quotaPerUnitNow(database);
  return { file: prices ?? '--group-ratio', records, groupRatio: groupRatiosGiven(ratios ?? []), quotaPerUnit };
}

function idGiven<Id>(name: string, given: string | undefined, id: (raw: unknown) => Id): Id | null {
  if (given === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new UsageError(`--${name} ${given}: give an id, as in 3.`);
  return id(given);
}
