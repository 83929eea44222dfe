import { Max, Min } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { TaskView } from '../../application/ports/task-ports.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import { ChannelId, TaskId, UserId } from '../../domain/kernel/ids.js';
import { Instant, instantOf } from '../../domain/kernel/instant.js';
import type { TaskPlatform, TaskStatus } from '../../domain/task/task.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { TimestampScalar } from '../server/scalars.js';
import { TaskObject, TaskPlatformEnum, TaskStatusEnum } from './task.js';

@InputType({ description: 'What is missing does not filter.' })
class TaskFilterInput {
  @Field(() => [TaskPlatformEnum], { nullable: true, description: 'Any of them.' })
  readonly platforms?: readonly TaskPlatform[] | null;

  @Field(() => String, { nullable: true })
  readonly action?: string | null;

  @Field(() => TaskStatusEnum, { nullable: true })
  readonly status?: TaskStatus | null;

  @Field(() => String, { nullable: true, description: 'By which its caller names it, whole.' })
  readonly publicId?: string | null;

  @Field(() => ID, { nullable: true, description: 'For administrators.' })
  readonly channelId?: string | null;

  @Field(() => ID, { nullable: true, description: 'For administrators, with `everyone`.' })
  readonly userId?: string | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'When it was submitted. Inclusive.' })
  readonly from?: number | null;

  @Field(() => TimestampScalar, { nullable: true, description: 'When it was submitted. Inclusive.' })
  readonly to?: number | null;
}

@ArgsType()
class TasksArgs {
  @Field(() => TaskFilterInput, { nullable: true })
  readonly filter?: TaskFilterInput;

  @Field(() => Boolean, { defaultValue: false, description: "Everybody's, not only one's own; for administrators." })
  readonly everyone!: boolean;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;

  @Field(() => ID, { nullable: true, description: 'The cursor of the last task of the page before.' })
  readonly after?: string | null;
}

@ObjectType()
class TaskEdge {
  @Field(() => ID)
  readonly cursor!: TaskId;

  @Field(() => TaskObject)
  readonly node!: TaskView;
}

@ObjectType()
class TaskPageInfo {
  @Field(() => Boolean)
  readonly hasNextPage!: boolean;

  @Field(() => ID, { nullable: true, description: 'Give it as `after` for the next page, of older tasks.' })
  readonly endCursor!: TaskId | null;
}

@ObjectType()
class TaskConnection {
  @Field(() => [TaskEdge])
  readonly edges!: readonly TaskEdge[];

  @Field(() => TaskPageInfo)
  readonly pageInfo!: TaskPageInfo;
}

const texts = ['action', 'publicId'] as const;

/** Throws `invalid-field`. */
function taskFilterOf(input: TaskFilterInput | null | undefined) {
  for (const name of texts) checkText(name, input?.[name] ?? '', searchText);
  const { platforms, action, status, publicId, channelId, userId, from, to } = input ?? {};
  return {
    ...(platforms && { platforms }),
    ...(action && { action }),
    ...(status && { status }),
    ...(publicId && { publicId }),
    ...(channelId && { channelId: ChannelId(channelId) }),
    ...(userId && { userId: UserId(userId) }),
    ...(from !== undefined && from !== null && { from: instantOf('from', from) }),
    // All of that second.
    ...(to !== undefined && to !== null && { to: Instant(instantOf('to', to) + 999) }),
  };
}

@Resolver()
export class TaskQueryResolver {
  @Authorized()
  @Query(() => TaskConnection, { description: 'Newest first. Tasks that are added meanwhile shift no page.' })
  async tasks(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => TasksArgs) { filter, everyone, first, after }: TasksArgs,
  ): Promise<TaskConnection> {
    // One more than asked for shows whether there is another page.
    const range = { before: after ? TaskId(after) : null, limit: first + 1 };
    const found = await application.queries.tasks(viewer, taskFilterOf(filter), range, !everyone);
    const tasks = found.slice(0, first);
    return {
      edges: tasks.map((node) => ({ cursor: node.facts.taskId, node })),
      pageInfo: { hasNextPage: found.length > first, endCursor: tasks.at(-1)?.facts.taskId ?? null },
    };
  }

  @Authorized()
  @Query(() => TaskObject, { nullable: true, description: 'null: there is none that one may see.' })
  task(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<TaskView | null> {
    return application.queries.task(viewer, TaskId(id));
  }
}
