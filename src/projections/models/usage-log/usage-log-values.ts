import type { ReadModels } from '../../database.js';
import { putNewRows } from '../../engine/multi-row.js';
import type { UsageLogRow } from './usage-log.js';

/* Which values lines have, and which of them together; what for, `narrowed-filter.ts` tells. */

export interface UsageLogValues {
  /** Lines with these may be gone; there is none with others. */
  usage_log_callers: Pick<UsageLogRow, 'api_key_name' | 'group' | 'user_id' | 'api_key_id'>;
  usage_log_models: Pick<UsageLogRow, 'model' | 'channel_id' | 'group'>;
}

// As many as API keys, and as models of channels: both only grow when somebody does what nobody did before.
export const tablesOfValues = `
  create table usage_log_callers (
    api_key_name text not null,
    "group" text not null,
    user_id bigint not null,
    api_key_id bigint not null,
    primary key (api_key_name, "group", user_id, api_key_id)
  );
  create index usage_log_callers_user on usage_log_callers (user_id);
  create index usage_log_callers_api_key on usage_log_callers (api_key_id);

  create table usage_log_models (
    model text not null,
    channel_id bigint not null,
    "group" text not null,
    primary key (model, channel_id, "group")
  );
`;

const callerKey = ['api_key_name', 'group', 'user_id', 'api_key_id'] as const;
const modelKey = ['model', 'channel_id', 'group'] as const;

export async function putValues(tx: ReadModels, lines: readonly UsageLogRow[]): Promise<void> {
  const callers = new Map<string, UsageLogValues['usage_log_callers']>();
  const models = new Map<string, UsageLogValues['usage_log_models']>();
  for (const { api_key_name, group, user_id, api_key_id, model, channel_id } of lines) {
    // Names are what callers chose: no character keeps two of them apart.
    callers.set(JSON.stringify([user_id, api_key_id, group, api_key_name]), {
      api_key_name,
      group,
      user_id,
      api_key_id,
    });
    models.set(JSON.stringify([channel_id, group, model]), { model, channel_id, group });
  }
  await putNewRows(tx, 'usage_log_callers', callerKey, [...callers.values()]);
  await putNewRows(tx, 'usage_log_models', modelKey, [...models.values()]);
}
