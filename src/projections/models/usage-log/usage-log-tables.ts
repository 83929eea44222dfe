import type { Usage } from '../../../domain/call/usage.js';
import type { ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { LineLabels } from './stored-line.js';
import type { UsageLogRow } from './usage-log.js';
import { tableOfClearings, type UsageLogClearings } from './usage-log-clearing.js';
import { columnsOfLog } from './usage-log-columns.js';
import { tablesOfHours, type UsageLogHours } from './usage-log-hours.js';
import { type LineNumbers, tablesOfValues, type UsageLogValues } from './usage-log-values.js';

/* What the usage log consists of in Postgres. */

/** What most lines have none of. */
type Seldom = 'uncovered' | 'cached_tokens' | 'reasoning_tokens';

export interface UsageLogTables extends UsageLogHours, UsageLogClearings, UsageLogValues {
  /** See `stored-line.ts`. */
  usage_log: Omit<UsageLogRow, keyof LineLabels | 'usage' | 'attempts' | 'failed_attempts' | Seldom> & {
    /** null: 0, which takes no room so. */
    [Name in Seldom]: UsageLogRow[Name] | null;
  } & LineNumbers & {
      /** null: the line is not about a call. */
      terms_id: number | null;
      /** null: text alone, as the columns say. */
      usage: Usage | null;
      /** null: the channel and no other. */
      attempts: readonly ChannelId[] | null;
      /** null: none. */
      failed_attempts: UsageLogRow['failed_attempts'] | null;
    };
  /** What lines about calls have in common. */
  usage_log_terms: Pick<UsageLogRow, 'price' | 'usage_source' | 'outcome'> & {
    id: number;
    path: string;
  };
  /** One row: what lines depend on, as of the last event folded. */
  usage_log_rules: {
    log_consume: boolean;
    root_user_id: UserId;
    /** Lines of what happened earlier are shown no more; unix seconds. */
    cleared_before: number;
  };
}

// `id` leads the primary key: newest first needs no other index. Entries of up to two bigints fill their pages, wider
// ones half of each, so models and groups are numbers here. Only the index of series is wider, by the time: of many
// series few lines are of the time asked for. Lines that are no charge are few, and looked for among the others.
export const tablesOfLog = `
  create table usage_log (
    ${columnsOfLog},
    primary key (id, created_at)
  ) partition by range (created_at);
  create index usage_log_time on usage_log (created_at);
  create index usage_log_series_lines on usage_log (series_id, id, created_at);
  create index usage_log_user on usage_log (user_id, id);
  create index usage_log_model on usage_log (model_id, id);
  create index usage_log_channel on usage_log (channel_id, id);
  create index usage_log_channel_other on usage_log (channel_id, type, id) where type <> 2;
  create index usage_log_api_key on usage_log (api_key_id, id);
  create index usage_log_group on usage_log (group_id, id);
  create index usage_log_other on usage_log (type, id) where type <> 2;
  create index usage_log_user_other on usage_log (user_id, type, id) where type <> 2;
  create index usage_log_failure on usage_log ((detail->>'code'), id) where type = 5;
  create index usage_log_request on usage_log (request_id);

  create table usage_log_terms (
    id bigint primary key,
    path text not null,
    price json,
    usage_source text,
    outcome text
  );

  ${tablesOfHours}
  ${tablesOfValues}
  ${tableOfClearings}
  create table usage_log_rules (
    log_consume boolean not null,
    root_user_id bigint not null,
    cleared_before bigint not null
  );
  insert into usage_log_rules values (true, 1, 0);
`;
