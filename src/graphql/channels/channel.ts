import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { shownProxy } from '../../domain/channel/channel-settings.js';
import type { ProviderFacts } from '../../domain/channel/provider.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { Page } from '../../projections/engine/page.js';
import type { ChannelFilter, ChannelSort } from '../../projections/models/channel-queries.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { CountedPage, PageArgs } from '../server/page.js';
import { DecimalScalar, QuotaScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { ChannelTypeObject } from './channel-type.js';

const ChannelStatusEnum = enumeration<ChannelRow['status']>('ChannelStatus', 'Whether a channel serves calls.', {
  ENABLED: 'enabled',
  DISABLED: 'disabled',
  AUTO_DISABLED: 'auto-disabled',
});

const ChannelSortEnum = enumeration<ChannelSort>('ChannelSort', 'The order of a list of channels.', {
  PRIORITY: 'priority',
  ID: 'id',
});

/** The whole type is for administrators: no field of another type leads here for anybody else. */
@ObjectType('Channel', { description: 'One upstream connection.' })
export class ChannelObject implements Omit<ChannelRow, 'key_secret' | 'key_hash' | 'proxy_secret' | 'position'> {
  @Field(() => ID)
  readonly id!: ChannelRow['id'];

  @Field(() => String)
  readonly name!: string;

  @Field(() => Int, { description: 'Number of the channel type.' })
  readonly type!: number;

  @Field(() => ChannelStatusEnum)
  readonly status!: ChannelRow['status'];

  @Field(() => String, { name: 'statusReason', description: 'Why it was last switched automatically.' })
  readonly status_reason!: string;

  @Field(() => TimestampScalar, { name: 'statusTime', nullable: true })
  readonly status_time!: number | null;

  @Field(() => String, { name: 'baseUrl', description: "Empty: the provider's own." })
  readonly base_url!: string;

  @Field(() => [String])
  readonly models!: readonly string[];

  @Field(() => [String])
  readonly groups!: readonly string[];

  @Field(() => SafeIntScalar)
  readonly priority!: number;

  @Field(() => SafeIntScalar)
  readonly weight!: number;

  @Field(() => String, { nullable: true })
  readonly tag!: string | null;

  @Field(() => String, { name: 'modelMapping', nullable: true, description: 'JSON: requested name → upstream name.' })
  readonly model_mapping!: string | null;

  @Field(() => String, { name: 'statusCodeMapping', description: 'JSON: upstream status → answered status.' })
  readonly status_code_mapping!: string;

  @Field(() => String, { name: 'paramOverride', nullable: true, description: 'JSON: members put into every request.' })
  readonly param_override!: string | null;

  @Field(() => String, { nullable: true, description: 'JSON: further settings, without the proxy.' })
  readonly setting!: string | null;

  @Field(() => String, { description: 'What `otherHint` of the channel type says.' })
  readonly other!: string;

  @Field(() => String, { nullable: true })
  readonly organization!: string | null;

  @Field(() => String, { name: 'testModel', nullable: true })
  readonly test_model!: string | null;

  @Field(() => Boolean, { name: 'autoBan', description: 'May be switched off automatically.' })
  readonly auto_ban!: boolean;

  @Field(() => SafeIntScalar, { name: 'maxInputTokens' })
  readonly max_input_tokens!: number;

  @Field(() => SafeIntScalar, { name: 'responseTimeMs', description: 'Of the last test that passed; 0: none did.' })
  readonly response_time_ms!: number;

  @Field(() => TimestampScalar, { name: 'testedAt', nullable: true })
  readonly tested_at!: number | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Of the account, in its currency, as the provider told it last; null: it never did.',
  })
  readonly balance!: string | null;

  @Field(() => String, {
    name: 'balanceCurrency',
    nullable: true,
    description: 'Of the balance, by ISO 4217; null: points, or nobody has said which.',
  })
  readonly balance_currency!: string | null;

  @Field(() => TimestampScalar, { name: 'balanceUpdatedAt', nullable: true })
  readonly balance_updated_at!: number | null;

  @Field(() => QuotaScalar, { name: 'usedQuota', description: 'Charged for calls it answered.' })
  readonly used_quota!: ChannelRow['used_quota'];

  @Field(() => TimestampScalar, { name: 'createdAt' })
  readonly created_at!: number;
}

@ObjectType()
class ChannelPage extends CountedPage implements Page<ChannelRow> {
  @Field(() => [ChannelObject])
  readonly items!: readonly ChannelRow[];
}

interface TaggedChannels {
  readonly tag: string;
  readonly channels: readonly ChannelRow[];
}

@ObjectType({ description: 'Channels that share a tag.' })
class ChannelTag implements TaggedChannels {
  @Field(() => String)
  readonly tag!: string;

  @Field(() => [ChannelObject])
  readonly channels!: readonly ChannelRow[];

  @Field(() => Int, { nullable: true, description: 'Of those that passed a test; null: none did.' })
  averageResponseTimeMs(): number | null {
    const tested = this.channels.map(({ response_time_ms }) => response_time_ms).filter((ms) => ms > 0);
    return tested.length === 0 ? null : Math.round(tested.reduce((sum, ms) => sum + ms, 0) / tested.length);
  }
}

@ObjectType()
class ChannelTagPage implements Page<TaggedChannels> {
  readonly count!: () => Promise<number>;

  @Field(() => [ChannelTag])
  readonly items!: readonly TaggedChannels[];

  @Field(() => SafeIntScalar, { description: 'Tags.' })
  total(): Promise<number> {
    return this.count();
  }
}

@InputType({ description: 'What is missing does not filter.' })
class ChannelFilterInput implements Omit<ChannelFilter, 'keyHash'> {
  @Field(() => String, { nullable: true, description: 'An id, part of the name, or the whole upstream key.' })
  readonly keyword?: string;

  @Field(() => String, { nullable: true, description: 'Part of a model name.' })
  readonly model?: string;

  @Field(() => String, { nullable: true })
  readonly group?: string;

  @Field(() => ChannelStatusEnum, { nullable: true })
  readonly status?: ChannelRow['status'];

  @Field(() => Int, { nullable: true })
  readonly type?: number;

  @Field(() => String, { nullable: true })
  readonly tag?: string;

  @Field(() => Boolean, { nullable: true, description: 'Whether its last test failed.' })
  readonly testFailed?: boolean;
}

@ArgsType()
class ChannelListArgs extends PageArgs {
  @Field(() => ChannelSortEnum, { defaultValue: 'priority' })
  readonly sort!: ChannelSort;

  @Field(() => ChannelFilterInput, { nullable: true })
  readonly filter?: ChannelFilterInput;
}

/** GraphQL's null is our "not given". */
const filterOf = (input: ChannelFilterInput | undefined): ChannelFilter => ({
  keyword: input?.keyword ?? undefined,
  model: input?.model ?? undefined,
  group: input?.group ?? undefined,
  status: input?.status ?? undefined,
  type: input?.type ?? undefined,
  tag: input?.tag ?? undefined,
  testFailed: input?.testFailed ?? undefined,
});

@Resolver(() => ChannelObject)
export class ChannelResolver {
  @FieldResolver(() => ChannelTypeObject, { nullable: true, description: 'null: a number nobody knows.' })
  provider(@Root() channel: ChannelRow, @Ctx() { application }: GraphqlContext): ProviderFacts | null {
    return application.queries.provider(channel.type);
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, {
    complexity: 5,
    description: 'Address of its proxy, without user name and password; empty: none.',
  })
  async proxy(@Root() channel: ChannelRow, @Ctx() { channelProxy }: GraphqlContext): Promise<string> {
    return shownProxy((await channelProxy(channel)) ?? '');
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, {
    nullable: true,
    description: 'Why its last test failed; null: it passed, or none was made.',
  })
  testError(@Root() { id }: ChannelRow, @Ctx() { channelTestError }: GraphqlContext): Promise<string | null> {
    return channelTestError(id);
  }

  @Authorized('admin-reading')
  @Query(() => ChannelPage)
  channels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChannelListArgs) { filter, ...request }: ChannelListArgs,
  ): Promise<Page<ChannelRow>> {
    return application.queries.channels(viewer, request, filterOf(filter));
  }

  @Authorized('admin-reading')
  @Query(() => ChannelTagPage, {
    description: 'Pages of tags with all their channels. Untagged channels do not appear.',
  })
  async channelsByTag(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChannelListArgs) { filter, ...request }: ChannelListArgs,
  ): Promise<Page<TaggedChannels>> {
    const { items, count } = await application.queries.channels(viewer, { ...request, byTag: true }, filterOf(filter));
    const byTag = new Map<string, ChannelRow[]>();
    for (const channel of items) {
      const tag = channel.tag ?? '';
      byTag.set(tag, [...(byTag.get(tag) ?? []), channel]);
    }
    return { items: [...byTag].map(([tag, channels]) => ({ tag, channels })), count };
  }

  @Authorized('admin-reading')
  @Query(() => ChannelObject)
  channel(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<ChannelRow> {
    return application.queries.channel(viewer, ChannelId(id));
  }
}
