import { Field, ID, InputType } from 'type-graphql';
import type { Audited, AuditedKind } from '../../application/audit/quota-history.js';
import { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { instantOf } from '../../domain/kernel/instant.js';
import type { MovementCause } from '../../domain/ledger/movements.js';
import { enumeration } from '../server/enumeration.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

const AuditedKindEnum = enumeration<AuditedKind>('AuditedKind', 'What has a history of quota.', {
  USER: 'user',
  API_KEY: 'api-key',
  CHANNEL: 'channel',
  CODE: 'code',
  PAYMENT: 'payment',
  TASK: 'task',
  CALL: 'call',
});

export const MovementCauseEnum = enumeration<MovementCause>('MovementCause', 'Why quota was moved.', {
  GRANT: 'grant',
  ADJUSTMENT: 'adjustment',
  TOP_UP: 'top-up',
  TOP_UP_RETURN: 'top-up-return',
  REDEMPTION: 'redemption',
  INVITE_REWARD: 'invite-reward',
  INVITE_TRANSFER: 'invite-transfer',
  ALLOWANCE: 'allowance',
  RESERVATION: 'reservation',
  SETTLEMENT: 'settlement',
  RELEASE: 'release',
  SUSPENSE: 'suspense',
  REFUND: 'refund',
  CORRECTION: 'correction',
});

@InputType({ description: 'A user, an API key, a channel, a redemption code, a payment, a task or a call.' })
export class AuditedInput implements Audited {
  @Field(() => AuditedKindEnum)
  readonly kind!: AuditedKind;

  @Field(() => ID)
  readonly id!: string;
}

@InputType({ description: 'A point in the past: one of the two.' })
export class MomentInput {
  @Field(() => TimestampScalar, { nullable: true, description: 'After all that happened in this second or before.' })
  readonly at?: number | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'Just after the event at this position.' })
  readonly position?: number | null;
}

/** Throws `invalid-field`. */
export function momentIn({ at, position }: MomentInput): Moment {
  if (typeof position === 'number' && typeof at !== 'number') return { position: Position(position) };
  if (typeof at !== 'number' || typeof position === 'number') throw invalidField('moment', 'either at or position');
  const second = instantOf('at', at);
  // Faces count in whole seconds, and what happened within one has happened by then.
  return { at: (second + 999) as typeof second };
}
