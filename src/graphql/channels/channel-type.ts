import { Authorized, Ctx, Field, FieldResolver, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { isServed, type Mode, type ProviderFacts } from '../../domain/channel/provider.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';

export const ModeEnum = enumeration<Mode>('ProviderMode', 'What a provider can be asked to do.', {
  CHAT: 'chat',
  COMPLETIONS: 'completions',
  RESPONSES: 'responses',
  EMBEDDINGS: 'embeddings',
  SPEECH: 'speech',
  TRANSCRIPTION: 'transcription',
  TRANSLATION: 'translation',
  RERANK: 'rerank',
  MODERATION: 'moderation',
  IMAGE_GENERATION: 'image-generation',
  IMAGE_EDIT: 'image-edit',
  REALTIME: 'realtime',
  TASK: 'task',
  COUNTING: 'counting',
});

@ObjectType('ChannelType', { description: 'A provider, as a channel may use it.' })
export class ChannelTypeObject implements Omit<ProviderFacts, 'other' | 'forbiddenMeansDead' | 'keyForm'> {
  @Field(() => Int, { description: 'The number a channel stores.' })
  readonly type!: number;

  @Field(() => String)
  readonly name!: string;

  @Field(() => String, { description: 'Empty: the operator must give one.' })
  readonly defaultBaseUrl!: string;

  @Field(() => [String])
  readonly defaultModels!: readonly string[];

  @Field(() => String, { nullable: true, description: 'Of its label; null: not offered for new channels.' })
  readonly colour!: string | null;

  @Field(() => String, { description: 'What the key looks like.' })
  readonly keyHint!: string;

  @Field(() => Boolean, { description: 'The key is one document; elsewhere each line is a key.' })
  readonly documentKey!: boolean;

  @Field(() => Boolean, { description: 'Calls may be billed to an organization of the account.' })
  readonly billsOrganization!: boolean;

  @Field(() => Boolean, { description: 'A small request can show whether it answers.' })
  readonly testable!: boolean;

  @Field(() => Boolean, { name: 'balance', description: "The provider tells the account's balance." })
  readonly reportsBalance!: boolean;

  @Field(() => Boolean, { description: 'The provider tells which models it has.' })
  readonly listsModels!: boolean;

  @Field(() => Boolean, { description: 'Gone or superseded.' })
  readonly deprecated!: boolean;

  @Field(() => [ModeEnum], { description: 'What the gateway can ask of it.' })
  readonly modes!: readonly Mode[];
}

@Resolver(() => ChannelTypeObject)
export class ChannelTypeResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description: 'What the field `other` of a channel means; null: nothing.',
  })
  otherHint(@Root() { other }: ProviderFacts): string | null {
    return other?.hint ?? null;
  }

  @FieldResolver(() => Boolean, {
    description: 'The field `other` holds a region, or a JSON object of regions by model; it cannot be empty.',
  })
  otherIsRegion(@Root() { other }: ProviderFacts): boolean {
    return other?.region ?? false;
  }

  @FieldResolver(() => String, { description: 'What an empty field `other` stands for; empty: nothing.' })
  otherUsual(@Root() { other }: ProviderFacts): string {
    return other?.usual ?? '';
  }

  @FieldResolver(() => Boolean, {
    description:
      'False: the gateway cannot speak with it yet. New channels cannot have it, those that do serve nobody.',
  })
  served(@Root() provider: ProviderFacts): boolean {
    return isServed(provider);
  }

  @Authorized('admin-reading')
  @Query(() => [ChannelTypeObject], { description: 'By type number, those that are not served included.' })
  channelTypes(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly ProviderFacts[] {
    return application.queries.providers(viewer);
  }
}
