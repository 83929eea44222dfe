import { settingsAt } from '../../application/audit/settings-at.js';
import { initialOptions } from '../../application/options/initial-options.js';
import { defaultPrices } from '../../application/prices/default-prices.js';
import { Instant } from '../../domain/kernel/instant.js';
import { optionHistory } from '../../projections/models/option-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { momentGiven, momentOptions } from './moment-options.js';
import { demandWhole } from './read-history.js';

/** Of a value, in a line for people. */
const shown = 100;

/** `audit settings-at --at 2026-11-01 [--key ModelRatio] [--json]`: the options as they were. */
export async function auditSettingsAt({ config, log, args }: CommandContext): Promise<void> {
  const { key, json, ...moment } = optionsIn(args, {
    ...momentOptions,
    key: { type: 'string' },
    json: { type: 'boolean' },
  });
  const asOf = momentGiven(moment);
  const initial = initialOptions(defaultPrices('at' in asOf ? asOf.at : Instant(Date.now())));
  await withDatabase(config, log, async ({ pool, store }) => {
    await demandWhole({ pool, store }, optionHistory);
    const all = await settingsAt(openReadModels(pool), asOf, initial);
    const found = all.filter((setting) => key === undefined || setting.key === key);
    if (found.length === 0) throw new UsageError(`--key ${key}: there is no such option.`);
    for (const setting of found) {
      const { value, isSet, change } = setting;
      if (json) {
        console.log(JSON.stringify(setting));
        continue;
      }
      const text = value ?? (isSet ? '(secret)' : '');
      const by = change === null ? 'initial' : `event ${change.position} at ${new Date(change.at).toISOString()}`;
      console.log(`${setting.key} = ${text.length > shown ? `${text.slice(0, shown)}…` : text}  (${by})`);
    }
  });
}
