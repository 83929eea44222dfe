import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { actCells, actJson, actsHeader } from '../../application/audit/acts-file.js';
import { actPages } from '../../application/audit/administrators-log.js';
import { UserId } from '../../domain/kernel/ids.js';
import { csvRow } from '../../exports/csv.js';
import {
  type ActKind,
  type ActSubject,
  actKinds,
  actSubjects,
} from '../../projections/models/administrators-log/acts.js';
import { administratorsLog } from '../../projections/models/administrators-log/administrators-log.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { newFile, unlessUnwritable } from '../new-file.js';
import { instantGiven } from './moment-options.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;
const options = {
  by: text,
  kind: text,
  subject: text,
  id: text,
  from: text,
  to: text,
  file: text,
  json: { type: 'boolean' },
} as const;

/**
 * `audit admins [--by 1] [--kind edited,enabled] [--subject channel [--id 3]] [--from 2026-11-01] [--to 2026-12-01]
 * [--json] [--file FILE]`: what administrators did, oldest first, as CSV or, with `--json`, a JSON text in each line.
 */
export async function auditAdmins({ config, log, args }: CommandContext): Promise<void> {
  const { by, kind, subject, id, from, to, file, json } = optionsIn(args, options);
  if (id !== undefined && subject === undefined) throw new UsageError('Give --subject with --id.');
  const filter = {
    by: by === undefined ? null : userGiven(by),
    kinds: kind === undefined ? null : kind.split(',').map((name) => oneOf<ActKind>('kind', name, actKinds)),
    subject: subject === undefined ? null : oneOf<ActSubject>('subject', subject, actSubjects),
    subjectId: id ?? null,
    from: from === undefined ? null : instantGiven('from', from),
    to: to === undefined ? null : instantGiven('to', to),
  };
  await withDatabase(config, log, async ({ pool, store, personalData }) => {
    await demandWhole({ pool, store }, administratorsLog);
    let orders = 0;
    async function* lines() {
      if (!json) yield csvRow(actsHeader);
      for await (const page of actPages({ db: openReadModels(pool), personal: personalData }, filter)) {
        orders += page.length;
        if (page.length > 0)
          yield page.map((act) => (json ? `${JSON.stringify(actJson(act))}\n` : csvRow(actCells(act)))).join('');
      }
    }
    const written = Readable.from(lines(), { objectMode: false });
    if (file === undefined) return pipeline(written, process.stdout, { end: false });
    await pipeline(written, newFile(file)).catch(unlessUnwritable('file', file));
    process.stderr.write(`${orders} orders written to ${file}\n`);
  });
}

function userGiven(given: string): UserId {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new UsageError(`--by ${given}: give the id of a user, as in 1.`);
  return UserId(given);
}

function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) throw new UsageError(`--${option} ${given}: give one of ${names.join(', ')}.`);
  return found;
}
