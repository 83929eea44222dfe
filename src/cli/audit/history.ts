import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { historyCells, historyHeader, historyJson } from '../../application/audit/history-file.js';
import { causesNamed, historyPages } from '../../application/audit/quota-history.js';
import { csvRow } from '../../exports/csv.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { auditedGiven, auditedOptions } from './audited-options.js';
import { instantGiven } from './moment-options.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;
const progressMs = 500;

/** What is not taken is waited for, so that no more than a page is held. */
async function write(to: Writable, line: string): Promise<void> {
  if (!to.write(line)) await once(to, 'drain');
}

/**
 * `audit history --user 7 [--cause grant,refund] [--from 2026-11-01] [--to 2026-12-01] [--json] [--file FILE]`: every
 * movement in order, as CSV or, with `--json`, a JSON text in each line.
 */
export async function auditHistory({ config, log, args }: CommandContext): Promise<void> {
  const options = {
    ...auditedOptions,
    cause: text,
    from: text,
    to: text,
    file: text,
    json: { type: 'boolean' },
  } as const;
  const { cause, from, to, file, json, ...named } = optionsIn(args, options);
  const of = auditedGiven(named);
  const filter = {
    causes: cause === undefined ? null : causesGiven(cause),
    from: from === undefined ? null : instantGiven('from', from),
    to: to === undefined ? null : instantGiven('to', to),
  };
  await withDatabase(config, log, async ({ pool, store }) => {
    await demandWhole({ pool, store }, quotaHistory);
    const out = file === undefined ? process.stdout : createWriteStream(file);
    let movements = 0;
    let shownAt = 0;
    if (!json) await write(out, csvRow(historyHeader));
    for await (const page of historyPages({ db: openReadModels(pool), store }, of, filter, null)) {
      const line = json
        ? (movement: (typeof page)[number]) => `${JSON.stringify(historyJson(movement))}\n`
        : (movement: (typeof page)[number]) => csvRow(historyCells(movement));
      if (page.length > 0) await write(out, page.map(line).join(''));
      movements += page.length;
      if (file !== undefined && process.stderr.isTTY && Date.now() - shownAt > progressMs) {
        shownAt = Date.now();
        process.stderr.write(`\r${movements} movements`);
      }
    }
    if (file === undefined) return;
    out.end();
    await finished(out as Writable);
    process.stderr.write(`${process.stderr.isTTY ? '\r' : ''}${movements} movements written to ${file}\n`);
  });
}

function causesGiven(cause: string) {
  try {
    return causesNamed(cause.split(','));
  } catch {
    throw new UsageError(`--cause ${cause}: give causes with commas between them, as in grant,refund.`);
  }
}
