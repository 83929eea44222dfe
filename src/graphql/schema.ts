import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { ApiKeyResolver } from './api-keys/api-key.js';
import { ApiKeyCommandResolver } from './api-keys/api-key-commands.js';
import { auditResolvers } from './audit/audit.js';
import { ChannelResolver } from './channels/channel.js';
import { ChannelCommandResolver } from './channels/channel-commands.js';
import { ChannelFailuresResolver } from './channels/channel-failures.js';
import { ChannelFileResolver } from './channels/channel-file.js';
import { ChannelHealthResolver } from './channels/channel-health.js';
import { ChannelHistoryResolver } from './channels/channel-history.js';
import { ChannelTypeResolver } from './channels/channel-type.js';
import { ChannelUpkeepResolver } from './channels/channel-upkeep.js';
import { EnginesResolver } from './channels/engines.js';
import { UpstreamModelsResolver } from './channels/upstream-models.js';
import { PaymentResolver } from './payments/payment.js';
import { PaymentCommandResolver } from './payments/payment-commands.js';
import { ExampleBillResolver } from './prices/example-bill.js';
import { PriceEditingResolver } from './prices/price-editing.js';
import { PriceFileResolver } from './prices/price-file.js';
import { PriceHistoryResolver } from './prices/price-history.js';
import { PriceSourceResolver } from './prices/price-source.js';
import { PriceTableResolver } from './prices/price-table.js';
import { PriceDifferencePageResolver, PriceDifferenceResolver } from './prices/price-updates.js';
import { RedemptionResolver } from './redemptions/redemption.js';
import { RedemptionCommandResolver } from './redemptions/redemption-commands.js';
import { authChecker } from './server/context.js';
import { ExternalSignInResolver } from './sessions/external-sign-in.js';
import { RegistrationResolver } from './sessions/registration.js';
import { SecurityResolver } from './sessions/security.js';
import { SessionResolver } from './sessions/session.js';
import { DoubtedProxyResolver } from './system/doubted-proxy.js';
import { NotificationsResolver } from './system/notifications.js';
import { OptionResolver } from './system/option.js';
import { OptionHistoryResolver } from './system/option-history.js';
import { ReadModelResolver } from './system/read-model.js';
import { ReleaseResolver } from './system/release.js';
import { SetupResolver } from './system/setup.js';
import { StatusResolver } from './system/status.js';
import { TaskResolver } from './tasks/task.js';
import { TaskProgressResolver } from './tasks/task-progress.js';
import { TaskQueryResolver } from './tasks/task-queries.js';
import { CallResolver, PriceOriginResolver } from './usage/call.js';
import { FailedAttemptResolver } from './usage/failed-attempt.js';
import { FailureHistoryResolver, FailureShareResolver, UsageFailuresResolver } from './usage/failures.js';
import { usageHistoryResolvers } from './usage/history.js';
import { TokenPriceResolver } from './usage/price.js';
import { OfferedModelResolver, PriceListResolver } from './usage/price-list.js';
import { statisticsResolvers } from './usage/statistics.js';
import { ChannelTrafficResolver, TrafficResolver } from './usage/traffic.js';
import { UsageFeedResolver } from './usage/usage-feed.js';
import { UsageLogLineResolver } from './usage/usage-log.js';
import { UsageLogCommandResolver } from './usage/usage-log-commands.js';
import { UsageLogQueryResolver } from './usage/usage-log-queries.js';
import { BalanceResolver } from './users/balance.js';
import { GroupResolver } from './users/group.js';
import { OwnAccountResolver } from './users/own-account.js';
import { UserResolver } from './users/user.js';
import { UserCommandResolver } from './users/user-commands.js';
import { UserSettingsResolver } from './users/user-settings.js';

let built: GraphQLSchema | null = null;

/** The one schema of the process: it knows no application; resolvers get theirs with the context. */
export function graphqlSchema(): GraphQLSchema {
  built ??= buildSchemaSync({
    // It would ask the schema for all of itself, at every start: a tenth of a second for what the tests have checked.
    skipCheck: true,
    resolvers: [
      SessionResolver,
      RegistrationResolver,
      SecurityResolver,
      ExternalSignInResolver,
      SetupResolver,
      StatusResolver,
      UserResolver,
      UserCommandResolver,
      OwnAccountResolver,
      UserSettingsResolver,
      GroupResolver,
      ApiKeyResolver,
      ApiKeyCommandResolver,
      RedemptionResolver,
      RedemptionCommandResolver,
      ChannelResolver,
      ChannelCommandResolver,
      ChannelTypeResolver,
      ChannelFailuresResolver,
      ChannelHealthResolver,
      ChannelHistoryResolver,
      ChannelUpkeepResolver,
      ChannelFileResolver,
      EnginesResolver,
      UpstreamModelsResolver,
      PaymentResolver,
      PaymentCommandResolver,
      OptionResolver,
      OptionHistoryResolver,
      ...auditResolvers,
      PriceTableResolver,
      PriceSourceResolver,
      PriceDifferenceResolver,
      PriceDifferencePageResolver,
      PriceEditingResolver,
      ExampleBillResolver,
      PriceFileResolver,
      PriceHistoryResolver,
      NotificationsResolver,
      ReadModelResolver,
      DoubtedProxyResolver,
      ReleaseResolver,
      UsageLogQueryResolver,
      FailedAttemptResolver,
      UsageFailuresResolver,
      FailureHistoryResolver,
      FailureShareResolver,
      UsageLogCommandResolver,
      UsageLogLineResolver,
      CallResolver,
      PriceOriginResolver,
      TokenPriceResolver,
      PriceListResolver,
      OfferedModelResolver,
      UsageFeedResolver,
      TaskResolver,
      TaskQueryResolver,
      TaskProgressResolver,
      ...statisticsResolvers,
      ...usageHistoryResolvers,
      TrafficResolver,
      ChannelTrafficResolver,
      BalanceResolver,
    ],
    authChecker,
    // type-graphql asks for one before it builds any subscription; ours bring their own sources and never use it.
    pubSub: createPubSub(),
    // The values of a refused input may be passwords: neither they nor their object go into the error.
    validate: { forbidUnknownValues: false, validationError: { target: false, value: false } },
  });
  return built;
}

/** The schema as text, sorted so that moving code about changes nothing. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(graphqlSchema()))}\n`;
