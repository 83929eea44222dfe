import { type AuditedStore, apiKeyAt, channelAt, userAt } from '../../application/audit/things-at.js';
import type { Moment } from '../../domain/events/moment.js';
import { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { momentGiven, momentOptions } from './moment-options.js';
import { factLines, factsAsJson } from './print-facts.js';
import { demandWhole } from './read-history.js';

/* `audit channel-at --id 3 --at 2026-11-01 [--json]`, and of API keys and users: what one was. */

const thingAt =
  (thing: string, read: (stored: AuditedStore, id: string, moment: Moment) => Promise<object | null>) =>
  async ({ config, log, args }: CommandContext): Promise<void> => {
    const options = { id: { type: 'string' }, ...momentOptions, json: { type: 'boolean' } } as const;
    const { id, json, ...given } = optionsIn(args, options);
    if (id === undefined || !/^\d{1,15}$/.test(id)) throw new UsageError(`--id: give the id of ${thing}, as in 7.`);
    const moment = momentGiven(given);
    await withDatabase(config, log, async ({ pool, store }) => {
      await demandWhole({ pool, store }, quotaHistory);
      const found = await read({ db: openReadModels(pool), store }, id, moment);
      if (json) console.log(factsAsJson(found));
      else console.log(found === null ? `There was no such ${thing.replace(/^an? /, '')}.` : factLines(found));
    });
  };

export const auditChannelAt = thingAt('a channel', (stored, id, moment) => channelAt(stored, ChannelId(id), moment));
export const auditKeyAt = thingAt('an API key', (stored, id, moment) => apiKeyAt(stored, ApiKeyId(id), moment));
export const auditUserAt = thingAt('a user', (stored, id, moment) => userAt(stored, UserId(id), moment));
