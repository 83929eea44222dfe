import { openReadModels } from '../projections/read-models.js';
import { isSound, verifyLedger } from '../projections/verify-ledger.js';
import type { CommandContext } from './command.js';
import { withDatabase } from './database.js';

const shown = 20;

/** Checks that all balances sum to zero and that each is what the log says; exit code 1 when not. */
export async function verify({ config, log }: CommandContext): Promise<void> {
  await withDatabase(config, log, async ({ pool, store }) => {
    const verdict = await verifyLedger(openReadModels(pool), store);
    const { events, accounts, position, sum, differences } = verdict;
    console.log(`Read ${events} events up to position ${position}; compared ${accounts} accounts.`);
    console.log(`Sum of all balances: ${sum}${sum === 0n ? '' : ' (must be 0)'}.`);
    for (const { account, expected, actual } of differences.slice(0, shown))
      console.log(`${account}: ${expected} by the log, ${actual} in the ledger`);
    if (differences.length > shown) console.log(`and ${differences.length - shown} more differences`);
    console.log(isSound(verdict) ? 'The ledger agrees with the log.' : 'The ledger does NOT agree with the log.');
    if (!isSound(verdict)) process.exitCode = 1;
  });
}
