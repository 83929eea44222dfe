import { Arg, Authorized, Ctx, Field, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { EngineLook } from '../../application/channels/engines.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Engine } from '../../domain/channel/engines.js';
import { type GraphqlContext, Viewer } from '../server/context.js';

@ObjectType('Engine', { description: 'A server of models that an operator runs, as a channel may be set up for it.' })
class EngineObject implements Engine {
  @Field(() => String)
  readonly id!: Engine['id'];

  @Field(() => String)
  readonly name!: string;

  @Field(() => Int, { description: 'Number of the channel type that speaks with it.' })
  readonly type!: number;

  @Field(() => String, { description: 'Where it usually listens.' })
  readonly usualBaseUrl!: string;

  @Field(() => String, { description: "The channel's settings, JSON; empty: none." })
  readonly setting!: string;
}

@ObjectType('FoundEngine', { description: 'What answers at an address.' })
class FoundEngineObject implements EngineLook {
  @Field(() => EngineObject, { nullable: true, description: 'null: none of those that are known.' })
  readonly engine!: EngineObject | null;

  @Field(() => String, { nullable: true, description: 'As it reports it; null: it does not.' })
  readonly version!: string | null;

  @Field(() => String, { description: 'The base URL for a channel.' })
  readonly baseUrl!: string;

  @Field(() => [String], { description: 'Names of its models, in its order.' })
  readonly models!: readonly string[];

  @Field(() => Boolean, { description: 'It has refused a question for want of a key.' })
  readonly needsKey!: boolean;
}

/** An order that waits for an upstream. */
const heavy = 200;

@Resolver()
export class EnginesResolver {
  @Authorized('admin')
  @Query(() => [EngineObject], { description: 'Servers of models that an operator may run himself.' })
  engines(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly Engine[] {
    return application.channels.knownEngines(viewer);
  }

  @Authorized('admin')
  @Mutation(() => FoundEngineObject, {
    complexity: heavy,
    description: 'Asks an address which engine answers there, with which models, and changes nothing.',
  })
  identifyEngine(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('baseUrl', () => String) baseUrl: string,
    @Arg('key', () => String, { nullable: true, description: 'Sent along where it is given.' }) key?: string | null,
    @Arg('proxy', () => String, { nullable: true }) proxy?: string | null,
  ): Promise<EngineLook> {
    return application.channels.engineAt(viewer, { baseUrl, key: key ?? '', proxy: proxy ?? '' });
  }
}
