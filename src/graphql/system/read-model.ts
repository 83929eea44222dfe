import {
  Arg,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { QuarantineInput } from '../../application/read-models.js';
import { Position } from '../../domain/events/events.js';
import { keepsBooks } from '../../domain/events/quarantine.js';
import type { ReadModelState } from '../../projections/engine/runner.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { SafeIntScalar } from '../server/scalars.js';

const StatusEnum = enumeration<ReadModelState['status']>('ReadModelStatus', 'Whether a read model follows the log.', {
  RUNNING: 'running',
  BUILDING: 'building',
  STOPPED: 'stopped',
});

@ObjectType({ description: 'Why a read model is stopped: the event that it cannot fold.' })
class ReadModelFailure {
  @Field(() => SafeIntScalar, { description: 'The event’s place in the log.' })
  readonly position!: Position;

  @Field(() => String, { description: 'Of the event.' })
  readonly type!: string;

  @Field(() => String)
  readonly error!: string;
}

@ObjectType('ReadModel', { description: 'What lists and figures are read from, folded from the log of events.' })
class ReadModelObject
  implements Pick<ReadModelState, 'name' | 'version' | 'position' | 'head' | 'status' | 'failure' | 'quarantined'>
{
  @Field(() => String)
  readonly name!: string;

  @Field(() => Int)
  readonly version!: number;

  @Field(() => SafeIntScalar, { description: 'The last event it contains; -1: none yet.' })
  readonly position!: Position;

  @Field(() => SafeIntScalar, { description: 'The last event there is. What lies between the two is not shown yet.' })
  readonly head!: Position;

  @Field(() => StatusEnum, {
    description:
      'Building: it is being made anew from the log, and shows what it has so far. ' +
      'Stopped: what is read from it is as old as `position`, until it is mended.',
  })
  readonly status!: ReadModelState['status'];

  @Field(() => ReadModelFailure, { nullable: true, description: 'null: not stopped.' })
  readonly failure!: ReadModelFailure | null;

  @Field(() => Int, { description: 'Events it leaves out, because somebody has quarantined them.' })
  readonly quarantined!: number;
}

@InputType('QuarantineInput')
class QuarantineInputObject implements Pick<QuarantineInput, 'model' | 'reason'> {
  @Field(() => String, { description: 'The name of a stopped read model that keeps no books.' })
  readonly model!: string;

  @Field(() => SafeIntScalar, { description: 'Of the event, as in its failure.' })
  readonly position!: number;

  @Field(() => String, { description: 'For whoever reads it later; at most 500 characters.' })
  readonly reason!: string;
}

@Resolver(() => ReadModelObject)
export class ReadModelResolver {
  @FieldResolver(() => Boolean, { description: 'It can leave out no event: its sums must stay true.' })
  keepsBooks(@Root() { name }: ReadModelState): boolean {
    return keepsBooks(name);
  }

  @Authorized('admin-reading')
  @Query(() => [ReadModelObject])
  readModels(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly ReadModelState[] {
    return application.readModels.list(viewer);
  }

  @Authorized()
  @Query(() => Int, {
    nullable: true,
    description: 'While the usage log or its sums are being made anew: how much of the past they hold, in percent.',
  })
  rebuiltPercent(@Ctx() { application }: GraphqlContext): number | null {
    return application.readModels.rebuiltPercent();
  }

  @Authorized('root')
  @Mutation(() => [ReadModelObject], {
    description: 'A stopped read model goes on, for ever without the one event that it cannot fold.',
  })
  async quarantineEvent(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => QuarantineInputObject) { model, position, reason }: QuarantineInputObject,
  ): Promise<readonly ReadModelState[]> {
    const { readModels } = application;
    const at = await readModels.quarantine(viewer, { model, position: Position(position), reason });
    await application.visible(at);
    return readModels.list(viewer);
  }
}
