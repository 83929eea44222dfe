import { postgresDetachedLog } from '../../adapters/archives/detached-log.js';
import { postgresAuditCheckpoints, postgresOutOfStep } from '../../adapters/seals/audit-reading.js';
import { postgresEventLines } from '../../adapters/seals/event-lines.js';
import { postgresSealKeyStore } from '../../adapters/seals/seal-key-store.js';
import { postgresSealStore } from '../../adapters/seals/seal-store.js';
import { type LogVerdict, type VerifyPorts, verifyLog } from '../../application/audit/verify-log.js';
import { type ReadModelVerdict, verifyReadModel } from '../../projections/engine/verify-read-model.js';
import { openReadModels, readModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { commandName } from '../model-names.js';
import { progressOn } from './progress.js';

const shown = 20;
const flag = { type: 'boolean' } as const;

/**
 * `audit verify [--full] [--skip-read-models] [--public-key KEY]… [--json]`: seals, streams, outcomes and the ledger from
 * where they were found sound the last time, and every read model against a fresh fold; exit code 1 where anything differs.
 */
export async function auditVerify({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, {
    full: flag,
    'skip-read-models': flag,
    'public-key': { type: 'string', multiple: true },
    json: flag,
  });
  const keys = given['public-key'];
  await withDatabase(config, log, async (database) => {
    const began = performance.now();
    const verdict = await verifyLog(verifyPortsOf(database), {
      full: given.full === true,
      given: keys === undefined ? null : new Set(keys),
      progress: progressOn(process.stderr),
    });
    const seconds = (performance.now() - began) / 1000;
    const models = given['skip-read-models'] === true ? [] : await readModelVerdicts(database);
    const isSound = verdict.found === 0 && models.every(({ differences }) => differences.length === 0);
    if (!isSound) process.exitCode = 1;
    if (given.json) console.log(JSON.stringify({ isSound, ...verdict, readModels: models }));
    else
      for (const line of [...logLines(verdict, seconds), ...modelLines(models), lastLine(isSound)]) console.log(line);
  });
}

export const verifyPortsOf = ({
  pool,
  vault,
  store,
}: Pick<CommandDatabase, 'pool' | 'vault' | 'store'>): VerifyPorts => ({
  lines: postgresEventLines(pool),
  seals: postgresSealStore(pool),
  keys: postgresSealKeyStore(pool),
  checkpoints: postgresAuditCheckpoints(pool),
  outOfStep: postgresOutOfStep(pool),
  db: openReadModels(pool),
  ...{ vault, store, detached: postgresDetachedLog(pool) },
});

async function readModelVerdicts({ store, newClient, personalData }: CommandDatabase): Promise<ReadModelVerdict[]> {
  const verdicts: ReadModelVerdict[] = [];
  for (const projection of readModels)
    verdicts.push(await verifyReadModel({ projection, feed: store, newClient, context: { personalData } }));
  return verdicts;
}

function logLines(verdict: LogVerdict, seconds: number): string[] {
  const { from, closed, position, events, seals, unsealed, accounts, found, findings } = verdict;
  const beginning =
    from < 0
      ? 'from the beginning'
      : closed === null
        ? `from position ${from}, up to which everything was found sound before`
        : `from position ${from}, with what accounts held when the books of ${closed} were closed`;
  const lines = [
    `Read ${events} events up to position ${position}, ${beginning}, in ${seconds.toFixed(1)} s.`,
    `Checked ${seals} seals and ${accounts} accounts; ${unsealed} events are not sealed yet.`,
  ];
  for (const { check, code, first, last, reason } of findings.slice(0, shown)) {
    const where = first === null ? (last === null ? '' : ` at position ${last}`) : ` at positions ${first} to ${last}`;
    lines.push(`${check}: ${code}${where}: ${reason}`);
  }
  if (found > shown) lines.push(`and ${found - shown} more`);
  return lines;
}

const modelLines = (models: readonly ReadModelVerdict[]): string[] =>
  models.flatMap(({ name, position, differences }) => {
    if (position === null) return [`${commandName(name)}: has not been built in this database, and was not compared.`];
    if (differences.length === 0) return [`${commandName(name)}: as a fresh fold, at position ${position}.`];
    return differences.map(
      ({ table, missing, surplus, example }) =>
        `${commandName(name)}: ${table} lacks ${missing} rows and has ${surplus} too many, as ${example}`,
    );
  });

const lastLine = (isSound: boolean): string =>
  isSound ? 'Everything is as the log says.' : 'NOT everything is as the log says.';
