import { Arg, Authorized, Ctx, Field, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { MovementEvent } from '../../application/audit/movement-event.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { SafeIntScalar } from '../server/scalars.js';

@ObjectType('MovementEvent', { description: 'An event that moves quota, as it stands in the log, without secrets.' })
class MovementEventObject implements Omit<MovementEvent, 'payload' | 'revision'> {
  @Field(() => SafeIntScalar, { description: 'Its place in the log of events.' })
  readonly position!: MovementEvent['position'];

  @Field(() => String, { description: 'What it happened to: `user-7`.' })
  readonly stream!: MovementEvent['stream'];

  @Field(() => SafeIntScalar, { description: 'Unix milliseconds.' })
  readonly at!: MovementEvent['at'];

  @Field(() => String)
  readonly type!: MovementEvent['type'];
}

@Resolver(() => MovementEventObject)
export class MovementEventResolver {
  @Authorized('admin-reading')
  @Query(() => MovementEventObject, {
    nullable: true,
    description: 'The event at a position; null: there is none that moves quota.',
  })
  movementEvent(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('position', () => SafeIntScalar) position: number,
  ): Promise<MovementEvent | null> {
    return application.queries.movementEvent(viewer, position);
  }

  @FieldResolver(() => String, { description: 'JSON text.' })
  json(@Root() { payload }: MovementEvent): string {
    return JSON.stringify(payload);
  }
}
