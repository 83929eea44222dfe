import type { Kysely } from 'kysely';
import type { ApiKeyTables } from './api-keys.js';
import type { ChannelTables } from './channels.js';
import type { LedgerTables } from './ledger.js';
import type { OptionTables } from './options.js';
import type { UsageLogTables } from './usage-log.js';
import type { UsageStatsTables } from './usage-stats.js';
import type { UserTables } from './users.js';

/** Every table of every read model. */
export interface Database
  extends UserTables,
    ApiKeyTables,
    ChannelTables,
    OptionTables,
    UsageLogTables,
    UsageStatsTables,
    LedgerTables {}

/** A handle on which unqualified table names mean the current read models; see `openReadModels`. */
export type ReadModels = Kysely<Database>;
