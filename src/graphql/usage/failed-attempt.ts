import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { FailedAttempt } from '../../domain/call/call.js';
import type { GraphqlContext } from '../server/context.js';
import { SafeIntScalar } from '../server/scalars.js';

@ObjectType('FailedAttempt', { description: 'A channel that was asked and did not answer the call.' })
export class FailedAttemptObject implements FailedAttempt {
  @Field(() => ID)
  readonly channelId!: FailedAttempt['channelId'];

  @Field(() => Int, { nullable: true, description: 'What upstream answered with; null: it gave no answer.' })
  readonly status!: number | null;

  @Field(() => String, { nullable: true, description: 'The code its caller would have been given.' })
  readonly code!: string | null;

  @Field(() => SafeIntScalar)
  readonly durationMs!: number;
}

@Resolver(() => FailedAttemptObject)
export class FailedAttemptResolver {
  @FieldResolver(() => String, { nullable: true, description: 'null: the channel is gone.' })
  channelName(@Root() { channelId }: FailedAttempt, @Ctx() { application }: GraphqlContext): string | null {
    return application.directory.channel(channelId)?.settings.name ?? null;
  }
}
