import { Authorized, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { GraphqlContext } from '../server/context.js';

/** A provider as the console offers it. */
export interface ChannelTypeListing {
  readonly type: number;
  readonly name: string;
  readonly defaultBaseUrl: string;
  readonly defaultModels: readonly string[];
  readonly colour: string | null;
  readonly keyHint: string;
  readonly otherHint: string | null;
  readonly balance: boolean;
  readonly deprecated: boolean;
}

@ObjectType('ChannelType', { description: 'A provider, as a channel may use it.' })
export class ChannelTypeObject implements ChannelTypeListing {
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

  @Field(() => String, { nullable: true, description: 'What the field `other` of a channel means; null: nothing.' })
  readonly otherHint!: string | null;

  @Field(() => Boolean, { description: "The provider tells the account's balance." })
  readonly balance!: boolean;

  @Field(() => Boolean, { description: 'Gone or superseded.' })
  readonly deprecated!: boolean;
}

@Resolver()
export class ChannelTypeResolver {
  @Authorized('admin')
  @Query(() => [ChannelTypeObject])
  channelTypes(@Ctx() { catalogue }: GraphqlContext): readonly ChannelTypeListing[] {
    return catalogue;
  }
}
