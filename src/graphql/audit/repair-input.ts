import { Field, ID, InputType } from 'type-graphql';
import type { RepairAsked } from '../../application/audit/repair/repair-desk.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import { instantOf } from '../../domain/kernel/instant.js';
import { maxPriceFileBytes } from '../../domain/pricing/records/price-file.js';
import type { RepairScope } from '../../domain/repair/repair.js';
import { TimestampScalar } from '../server/scalars.js';
import { MomentInput, momentIn } from './audited.js';

/* Which calls a repair is of, and what was right for them. */

@InputType({
  description:
    'Which calls, and what was right for them: the prices as they were (`heldAt`), or a file of prices and ratios of groups.',
})
export class RepairInput {
  @Field(() => TimestampScalar, { description: 'When calls were settled. Inclusive.' })
  readonly from!: number;

  @Field(() => TimestampScalar, { description: 'Exclusive.' })
  readonly to!: number;

  @Field(() => String, { nullable: true, description: 'null, as the others: of all.' })
  readonly model?: string | null;

  @Field(() => ID, { nullable: true })
  readonly userId?: string | null;

  @Field(() => String, { nullable: true })
  readonly group?: string | null;

  @Field(() => ID, { nullable: true, description: 'The channel that has answered.' })
  readonly channelId?: string | null;

  @Field(() => ID, { nullable: true })
  readonly apiKeyId?: string | null;

  @Field(() => MomentInput, { nullable: true })
  readonly heldAt?: MomentInput | null;

  @Field(() => String, { nullable: true, description: `As exported; at most ${maxPriceFileBytes} bytes.` })
  readonly prices?: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the file, for those who read about the repair later.' })
  readonly pricesName?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'What groups multiply prices by, as in `vip=0.8`; at most 200.',
  })
  readonly groupRatios?: string[] | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Who was charged too little pays the rest, as far as it is there. Otherwise such calls are left.',
  })
  readonly charge!: boolean;
}

function ratioIn(text: string): RepairAsked['groupRatios'][number] {
  const [, group, ratio] = /^(.{1,64})=([\d.]{1,20})$/.exec(text) ?? [];
  if (group === undefined || ratio === undefined) throw invalidField('groupRatios', 'groups and ratios, as in vip=0.8');
  return { group, ratio };
}

/** Throws `invalid-field`. */
export function askedIn(input: RepairInput): RepairAsked {
  const { prices, pricesName, groupRatios, heldAt } = input;
  const scope: RepairScope = {
    ...{ from: instantOf('from', input.from), to: instantOf('to', input.to) },
    ...{ model: input.model ?? null, group: input.group ?? null },
    userId: input.userId ? UserId(input.userId) : null,
    channelId: input.channelId ? ChannelId(input.channelId) : null,
    apiKeyId: input.apiKeyId ? ApiKeyId(input.apiKeyId) : null,
  };
  return {
    ...{ scope, isCharging: input.charge, heldAt: heldAt ? momentIn(heldAt) : null },
    file: prices ? { name: pricesName || 'prices', text: prices } : null,
    groupRatios: (groupRatios ?? []).map(ratioIn),
  };
}
