import { Field, ObjectType } from 'type-graphql';
import type { TaskMedia, TaskMediaKind } from '../../application/tasks/task-media.js';
import { enumeration } from '../server/enumeration.js';

const MediaKindEnum = enumeration<TaskMediaKind>('TaskMediaKind', 'How what a task has made is shown.', {
  PICTURE: 'picture',
  AUDIO: 'audio',
  VIDEO: 'video',
});

@ObjectType('TaskMedia', { description: 'Something that a task has made.' })
export class TaskMediaObject implements TaskMedia {
  @Field(() => MediaKindEnum)
  readonly kind!: TaskMediaKind;

  @Field(() => String, {
    description:
      'A path of this gateway, signed, for videos and the first picture of a drawing; else an address upstream.',
  })
  readonly url!: string;
}
