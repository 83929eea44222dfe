import { Authorized, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { TaskView } from '../../application/ports/task-ports.js';
import { submitCodeOf, type TaskMedia, taskMedia } from '../../application/tasks/task-media.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { isTerminal, type TaskFailureReason, type TaskPlatform, type TaskStatus } from '../../domain/task/task.js';
import { picturePath, videoPath } from '../../http/task-addresses.js';
import type { GraphqlContext } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { QuotaScalar, TimestampScalar } from '../server/scalars.js';
import { TaskMediaObject } from './task-media.js';

export const TaskPlatformEnum = enumeration<TaskPlatform>('TaskPlatform', 'What kind of server does the work.', {
  MIDJOURNEY: 'midjourney',
  SUNO: 'suno',
  VIDEO: 'video',
});

export const TaskStatusEnum = enumeration<TaskStatus>(
  'TaskStatus',
  'How far a task is. MODAL: it waits for more from its caller. UNKNOWN: upstream has not said.',
  {
    NOT_STARTED: 'not-started',
    SUBMITTED: 'submitted',
    QUEUED: 'queued',
    MODAL: 'modal',
    IN_PROGRESS: 'in-progress',
    SUCCEEDED: 'succeeded',
    FAILED: 'failed',
    UNKNOWN: 'unknown',
  },
);

export const TaskFailureEnum = enumeration<TaskFailureReason>('TaskFailureReason', 'Why a task has failed.', {
  UPSTREAM: 'upstream',
  TIMED_OUT: 'timed-out',
  CHANNEL_GONE: 'channel-gone',
  REJECTED: 'rejected',
  CANCELLED: 'cancelled',
});

const secondsOf = (at: Instant | null): number | null => (at === null ? null : unixSeconds(at));

/** Where this gateway passes on the picture of a drawing; null: it does not. One that changes has an address each time. */
function ownPictureOf(
  { facts, status, progress }: TaskView,
  { directory, queries }: GraphqlContext['application'],
): string | null {
  if (facts.platform !== 'midjourney' || !directory.settings().midjourney.forwardsPictures) return null;
  const path = picturePath(queries.mediaKeys, facts.taskId);
  return isTerminal(status) ? path : `${path}?progress=${progress}`;
}

/** Where this gateway passes on the files of a video; null: there are none, or not yet, or they are forgotten. */
const ownVideoOf = (
  { facts, status, content }: TaskView,
  { queries }: Pick<GraphqlContext['application'], 'queries'>,
): string | null =>
  facts.platform === 'video' && status === 'succeeded' && content !== null
    ? videoPath(queries.mediaKeys, facts.taskId)
    : null;

@ObjectType('Task', { description: 'A drawing, music or a video, made after the call that asked for it was answered.' })
export class TaskObject implements Pick<TaskView, 'status' | 'progress' | 'reason' | 'charged' | 'refunded'> {
  @Field(() => TaskStatusEnum)
  readonly status!: TaskStatus;

  @Field(() => Int, { description: 'Percent.' })
  readonly progress!: number;

  @Field(() => TaskFailureEnum, { nullable: true, description: 'null: it has not failed.' })
  readonly reason!: TaskFailureReason | null;

  @Field(() => QuotaScalar, { nullable: true, description: 'What its call was charged; null: nothing yet.' })
  readonly charged!: TaskView['charged'];

  @Field(() => Boolean)
  readonly refunded!: boolean;
}

@Resolver(() => TaskObject)
export class TaskResolver {
  @FieldResolver(() => ID, { description: 'Grows with time; also the cursor.' })
  id(@Root() { facts }: TaskView): number {
    return facts.taskId;
  }

  @FieldResolver(() => String, { description: 'By which its caller names it.' })
  publicId(@Root() { facts }: TaskView): string {
    return facts.publicId;
  }

  @FieldResolver(() => TaskPlatformEnum)
  platform(@Root() { facts }: TaskView): TaskPlatform {
    return facts.platform;
  }

  @FieldResolver(() => String, { description: 'What was asked for, such as IMAGINE.' })
  action(@Root() { facts }: TaskView): string {
    return facts.action;
  }

  @FieldResolver(() => Int, {
    nullable: true,
    description: 'By which a proxy takes a drawing: 1, or 21 where it waits.',
  })
  code(@Root() task: TaskView): number | null {
    return submitCodeOf(task);
  }

  @FieldResolver(() => String)
  model(@Root() { facts }: TaskView): string {
    return facts.model;
  }

  @FieldResolver(() => String)
  group(@Root() { facts }: TaskView): string {
    return facts.group;
  }

  @FieldResolver(() => String)
  apiKeyName(@Root() { facts }: TaskView): string {
    return facts.apiKeyName;
  }

  @FieldResolver(() => ID, { description: 'Of the call that submitted it, and is charged for it.' })
  requestId(@Root() { facts }: TaskView): string {
    return facts.callId;
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The task that it goes on from; null: none.' })
  parentId(@Root() { facts }: TaskView): number | null {
    return facts.parent;
  }

  @FieldResolver(() => TimestampScalar)
  submittedAt(@Root() { submittedAt }: TaskView): number {
    return unixSeconds(submittedAt);
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'As upstream says.' })
  startedAt(@Root() { startedAt }: TaskView): number | null {
    return secondsOf(startedAt);
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'null: it is not at an end.' })
  finishedAt(@Root() { finishedAt }: TaskView): number | null {
    return secondsOf(finishedAt);
  }

  @FieldResolver(() => Boolean, { description: 'What it says and shows is kept. If not, those members are empty.' })
  hasContent(@Root() { content }: TaskView): boolean {
    return content !== null;
  }

  @FieldResolver(() => String)
  prompt(@Root() { content }: TaskView): string {
    return content?.prompt ?? '';
  }

  @FieldResolver(() => String)
  promptEn(@Root() { content }: TaskView): string {
    return content?.promptEn ?? '';
  }

  @FieldResolver(() => String)
  description(@Root() { content }: TaskView): string {
    return content?.description ?? '';
  }

  @FieldResolver(() => String, { description: 'Text of its caller’s that upstream gives back.' })
  state(@Root() { content }: TaskView): string {
    return content?.state ?? '';
  }

  @FieldResolver(() => String, { description: 'Upstream’s own words for why it failed; empty: none.' })
  failReason(@Root() { content }: TaskView): string {
    return content?.failReason ?? '';
  }

  @FieldResolver(() => String, { nullable: true, description: 'JSON text of what upstream returned for it.' })
  result(@Root() task: TaskView, @Ctx() { application }: GraphqlContext): string | null {
    const { result, urls } = task.content ?? { urls: [] };
    const ownPicture = ownPictureOf(task, application);
    const [picture] = urls;
    if (result === undefined) return null;
    // Where its picture is passed on, nobody is shown whence: it can be the address of a channel.
    return ownPicture === null || picture === undefined
      ? result
      : result.replaceAll(JSON.stringify(picture), JSON.stringify(ownPicture));
  }

  @FieldResolver(() => [TaskMediaObject])
  media(@Root() task: TaskView, @Ctx() { application }: GraphqlContext): readonly TaskMedia[] {
    const { facts, content } = task;
    const ownPicture = ownPictureOf(task, application);
    const ownVideo = ownVideoOf(task, application);
    return taskMedia({ platform: facts.platform, urls: content?.urls ?? [], ownPicture, ownVideo });
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ID, { nullable: true, description: 'Whose it is; for administrators.' })
  userId(@Root() { facts }: TaskView): number {
    return facts.userId;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'As the user is called now; for administrators.' })
  async username(@Root() { facts }: TaskView, @Ctx() { userById }: GraphqlContext): Promise<string | null> {
    return (await userById(facts.userId))?.username ?? null;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => ID, { nullable: true, description: 'For administrators.' })
  channelId(@Root() { facts }: TaskView): number {
    return facts.channelId;
  }

  @Authorized('admin-reading')
  @FieldResolver(() => String, { nullable: true, description: 'null: the channel is gone. For administrators.' })
  channelName(@Root() { facts }: TaskView, @Ctx() { application }: GraphqlContext): string | null {
    return application.directory.channel(facts.channelId)?.settings.name ?? null;
  }
}
