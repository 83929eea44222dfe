import { Authorized, Field, Int, ObjectType } from 'type-graphql';
import type { LogDetail } from '../../projections/models/usage-log/log-detail.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

@ObjectType({ description: 'A call was refused before anything was reserved for it, or several of one kind were.' })
export class RefusalDetail implements Extract<LogDetail, { kind: 'refused' }> {
  readonly kind!: 'refused';

  @Field(() => Int, { description: 'The status the callers got.' })
  readonly status!: number;

  @Field(() => String, { description: 'The code the callers got.' })
  readonly code!: string;

  @Field(() => SafeIntScalar, { description: 'How many calls the line tells of.' })
  readonly count!: number;

  @Field(() => TimestampScalar, {
    nullable: true,
    description: 'So many more since then, beside those with lines of their own; null: this is such a line.',
  })
  readonly since!: number | null;

  @Authorized('admin-reading')
  @Field(() => String, {
    nullable: true,
    description: 'The network of callers that nobody knows, or that may not call from there. For administrators.',
  })
  readonly network!: string | null;
}
