import { Failure } from '../domain/kernel/failure.js';
import { schemaOf } from '../projections/engine/projection.js';
import { ledger } from '../projections/models/ledger/ledger.js';
import { isSound, verifyLedger } from '../projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../projections/read-models.js';
import { type CommandContext, optionsIn } from './command.js';
import { withDatabase } from './database.js';

const shown = 20;

/** Checks that all balances sum to zero and that each, statements' included, is what the log says; exit code 1 when not. */
export async function verify({ config, log, args }: CommandContext): Promise<void> {
  optionsIn(args, {});
  await withDatabase(config, log, async ({ pool, store }) => {
    const { rowCount } = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schemaOf(ledger)]);
    if (rowCount === 0)
      throw new Failure('store-unavailable', {
        reason:
          'The ledger of this release has not been built in this database. Verify with the release that serves it, ' +
          'or start the gateway of this one first.',
      });
    const verdict = await verifyLedger(openReadModels(pool), store);
    const { events, accounts, wallets, position, sum, differences } = verdict;
    console.log(`Read ${events} events up to position ${position}; compared ${accounts} accounts.`);
    console.log(
      wallets === null
        ? 'What statements are made of has not been built in this database yet, and was not compared.'
        : `Compared ${wallets} wallets, of which statements are made.`,
    );
    console.log(`Sum of all balances: ${sum}${sum === 0n ? '' : ' (must be 0)'}.`);
    for (const { account, expected, actual } of differences.slice(0, shown))
      console.log(`${account}: ${expected} by the log, ${actual} in the tables`);
    if (differences.length > shown) console.log(`and ${differences.length - shown} more differences`);
    console.log(isSound(verdict) ? 'Every balance agrees with the log.' : 'NOT every balance agrees with the log.');
    if (!isSound(verdict)) process.exitCode = 1;
  });
}
