import { auditedBalance } from '../../application/audit/quota-history.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn } from '../command.js';
import { withDatabase } from '../database.js';
import { auditedGiven, auditedOptions } from './audited-options.js';
import { momentGiven, momentOptions } from './moment-options.js';
import { demandWhole } from './read-history.js';

/** `audit balance-at --user 7 --at 2026-11-01 [--json]`: what an account held. */
export async function auditBalanceAt({ config, log, args }: CommandContext): Promise<void> {
  const options = { ...auditedOptions, ...momentOptions, json: { type: 'boolean' } } as const;
  const { at, position, json, ...named } = optionsIn(args, options);
  const of = auditedGiven(named);
  const moment = momentGiven({ at, position });
  await withDatabase(config, log, async ({ pool, store }) => {
    await demandWhole({ pool, store }, quotaHistory);
    const { available, reserved, invites } = await auditedBalance({ db: openReadModels(pool), store }, of, moment);
    if (json) {
      // Sums have no end: they are written as text.
      const balance = { available: String(available), reserved: String(reserved), invites: String(invites) };
      console.log(JSON.stringify({ ...of, ...moment, ...balance }));
      return;
    }
    console.log(`${of.kind} ${of.id}: ${available} available, ${reserved} reserved, ${invites} earned by inviting`);
  });
}
