import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { ApiKeyResolver } from './api-key.js';
import { ApiKeyCommandResolver } from './api-key-commands.js';
import { BalanceResolver } from './balance.js';
import { ChannelResolver } from './channel.js';
import { ChannelCommandResolver } from './channel-commands.js';
import { ChannelHealthResolver } from './channel-health.js';
import { ChannelTypeResolver } from './channel-type.js';
import { authChecker } from './context.js';
import { GroupResolver } from './group.js';
import { OptionResolver } from './option.js';
import { ReadModelResolver } from './read-model.js';
import { SessionResolver } from './session.js';
import { SetupResolver } from './setup.js';
import { StatisticsResolver } from './statistics.js';
import { StatusResolver } from './status.js';
import { ChannelTrafficResolver, TrafficResolver } from './traffic.js';
import { UsageFeedResolver } from './usage-feed.js';
import { UsageLogLineResolver } from './usage-log.js';
import { UsageLogQueryResolver } from './usage-log-queries.js';
import { UserResolver } from './user.js';
import { UserCommandResolver } from './user-commands.js';
import { UserSettingsResolver } from './user-settings.js';

let built: GraphQLSchema | null = null;

/** The one schema of the process: it knows no application; resolvers get theirs with the context. */
export function graphqlSchema(): GraphQLSchema {
  built ??= buildSchemaSync({
    resolvers: [
      SessionResolver,
      SetupResolver,
      StatusResolver,
      UserResolver,
      UserCommandResolver,
      UserSettingsResolver,
      GroupResolver,
      ApiKeyResolver,
      ApiKeyCommandResolver,
      ChannelResolver,
      ChannelCommandResolver,
      ChannelTypeResolver,
      ChannelHealthResolver,
      OptionResolver,
      ReadModelResolver,
      UsageLogQueryResolver,
      UsageLogLineResolver,
      UsageFeedResolver,
      StatisticsResolver,
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
