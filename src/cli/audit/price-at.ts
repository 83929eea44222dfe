import { priceAt } from '../../application/audit/price-at.js';
import { optionHistory } from '../../projections/models/option-history.js';
import { priceHistory } from '../../projections/models/price-history.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { momentGiven, momentOptions } from './moment-options.js';
import { factLines, factsAsJson } from './print-facts.js';
import { demandWhole } from './read-history.js';

const text = { type: 'string' } as const;

/** `audit price-at --model gpt-4o [--group vip] --at 2026-11-01 [--json]`: what a call of a model cost. */
export async function auditPriceAt({ config, log, args }: CommandContext): Promise<void> {
  const options = { model: text, group: text, ...momentOptions, json: { type: 'boolean' } } as const;
  const { model, group = '', json, ...given } = optionsIn(args, options);
  if (model === undefined) throw new UsageError('--model: give the name of a model, as in gpt-4o.');
  const moment = momentGiven(given);
  await withDatabase(config, log, async ({ pool, store }) => {
    for (const model of [optionHistory, priceHistory, quotaHistory]) await demandWhole({ pool, store }, model);
    const { price, settings } = await priceAt(openReadModels(pool), { model, group }, moment);
    if (json) {
      console.log(factsAsJson({ model, group, price, settings }));
      return;
    }
    console.log(price === null ? `${model} had no price.` : factLines(price));
    for (const { option, position, at } of settings)
      console.log(`set by event ${position} at ${new Date(at).toISOString()}: ${option ?? 'its record'}`);
  });
}
