import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { historyCells, historyHeader, historyJson } from '../../application/audit/history-file.js';
import { causesNamed, historyPages } from '../../application/audit/quota-history.js';
import { csvRow } from '../../exports/csv.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { newFile, unlessUnwritable } from '../new-file.js';
import { auditedGiven, auditedOptions } from './audited-options.js';
import { instantGiven } from './moment-options.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;
const progressMs = 500;

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
    let movements = 0;
    async function* text() {
      let shownAt = 0;
      if (!json) yield csvRow(historyHeader);
      for await (const page of historyPages({ db: openReadModels(pool), store }, of, filter, { upTo: null })) {
        const line = json
          ? (movement: (typeof page)[number]) => `${JSON.stringify(historyJson(movement))}\n`
          : (movement: (typeof page)[number]) => csvRow(historyCells(movement));
        if (page.length > 0) yield page.map(line).join('');
        movements += page.length;
        if (file === undefined || !process.stderr.isTTY || Date.now() - shownAt <= progressMs) continue;
        shownAt = Date.now();
        process.stderr.write(`\r${movements} movements`);
      }
    }
    const lines = Readable.from(text(), { objectMode: false });
    if (file === undefined) return pipeline(lines, process.stdout, { end: false });
    await pipeline(lines, newFile(file)).catch(unlessUnwritable('file', file));
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
