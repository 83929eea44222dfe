import type { Kysely } from 'kysely';
import type { AdministratorsLogTables } from './models/administrators-log/administrators-log.js';
import type { ApiKeyTables } from './models/api-keys.js';
import type { ChannelFailureTables } from './models/channel-failures.js';
import type { ChannelHistoryTables } from './models/channel-history.js';
import type { ChannelTables } from './models/channels.js';
import type { KeptObjectTables } from './models/kept-objects.js';
import type { LedgerTables } from './models/ledger/ledger.js';
import type { OptionHistoryTables } from './models/option-history.js';
import type { OptionTables } from './models/options.js';
import type { PaymentTables } from './models/payments.js';
import type { PriceHistoryTables } from './models/price-history.js';
import type { PriceRepairTables } from './models/price-repairs.js';
import type { QuotaHistoryTables } from './models/quota-history/quota-history.js';
import type { RedemptionTables } from './models/redemptions.js';
import type { TaskTables } from './models/tasks.js';
import type { UsageLogTables } from './models/usage-log/usage-log-tables.js';
import type { UsageStatsTables } from './models/usage-stats/usage-stats.js';
import type { UserTables } from './models/users.js';
import type { WalletTables } from './models/wallets.js';

/** Every table of every read model. */
export interface Database
  extends UserTables,
    ApiKeyTables,
    ChannelTables,
    ChannelHistoryTables,
    ChannelFailureTables,
    KeptObjectTables,
    RedemptionTables,
    OptionTables,
    OptionHistoryTables,
    AdministratorsLogTables,
    PriceHistoryTables,
    PriceRepairTables,
    PaymentTables,
    TaskTables,
    UsageLogTables,
    UsageStatsTables,
    LedgerTables,
    WalletTables,
    QuotaHistoryTables {}

/** A handle on which unqualified table names mean the current read models; see `openReadModels`. */
export type ReadModels = Kysely<Database>;
