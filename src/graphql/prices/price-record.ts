import { GraphQLScalarType, valueFromASTUntyped } from 'graphql';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import type { PriceProposal, StatedPrice } from '../../application/prices/price-editing.js';
import { beginning, Position } from '../../domain/events/events.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { PricePeriods } from '../../domain/pricing/records/model-price.js';
import type { NotEdited } from '../../domain/pricing/records/price-edits.js';
import type { RecordDifference } from '../../domain/pricing/records/record-differences.js';
import { enumeration } from '../server/enumeration.js';
import { SafeIntScalar } from '../server/scalars.js';

/* Records of the price table on this wire: JSON, in the form in which files of prices hold them. */

/** What is wrong in one is reported by the command that reads it, with the path. */
export const PricePeriodsScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'PricePeriods',
  description:
    'What is stated of the price of one model, as JSON: a list of periods by ascending day, in the form of a price file.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

const NotEditedEnum = enumeration<NotEdited>('PriceNotEdited', 'Why an edit leaves a model as it is.', {
  NO_PRICE: 'no-price',
  NO_PURCHASE_PRICE: 'no-purchase-price',
});

@ObjectType('RecordDifference', { description: 'One part of a record that becomes another.' })
export class RecordDifferenceObject implements RecordDifference {
  @Field(() => String, { nullable: true, description: 'First day of its period; null: of the one without.' })
  readonly from!: string | null;

  @Field(() => String, {
    description: 'Its path: `tokens.output`, `purchase.call`, `contextTiers.200000.input`, `pictures.1024x1024.high`.',
  })
  readonly part!: string;

  @Field(() => String, { nullable: true, description: '`$2.5`, `×4` or a day; null: it was not stated.' })
  readonly before!: string | null;

  @Field(() => String, { nullable: true, description: 'null: it is not stated any more.' })
  readonly after!: string | null;
}

@ObjectType('StatedPrice', { description: 'What is stated of the price of a model.' })
export class StatedPriceObject implements StatedPrice {
  @Field(() => ID, { name: 'id' })
  id(): string {
    return this.model;
  }

  @Field(() => String)
  readonly model!: string;

  @Field(() => SafeIntScalar, { description: 'Give it with a change of yours. -1: nobody has changed its record yet.' })
  readonly seenAt!: Position;

  @Field(() => PricePeriodsScalar, { nullable: true, description: 'Its record; null: there is none.' })
  readonly recorded!: PricePeriods | null;

  @Field(() => PricePeriodsScalar, {
    nullable: true,
    description: 'The record, else what options and built-in prices say; null: there is no price.',
  })
  readonly periods!: PricePeriods | null;

  @Field(() => PricePeriodsScalar, { nullable: true, description: 'By the built-in table; null: that has none.' })
  readonly builtIn!: PricePeriods | null;
}

@ObjectType('PriceProposal', { description: 'A change of a record that is proposed, and not stored.' })
export class PriceProposalObject implements PriceProposal {
  @Field(() => String)
  readonly model!: string;

  @Field(() => SafeIntScalar, { description: 'Of the record that it would change: give it with the change.' })
  readonly seenAt!: Position;

  @Field(() => PricePeriodsScalar, {
    nullable: true,
    description: 'The record as it would be; null: none, so that options and built-in prices hold.',
  })
  readonly periods!: PricePeriods | null;

  @Field(() => [RecordDifferenceObject], { description: 'From what holds now; none: nothing would change.' })
  readonly differences!: readonly RecordDifference[];

  @Field(() => NotEditedEnum, { nullable: true, description: 'null: the edit is for it.' })
  readonly notEdited!: NotEdited | null;
}

@InputType()
export class ModelPriceInput {
  @Field(() => String)
  readonly model!: string;

  @Field(() => PricePeriodsScalar, { nullable: true, description: 'null: the record is taken out.' })
  readonly periods?: unknown;

  @Field(() => SafeIntScalar, {
    nullable: true,
    description:
      'The `seenAt` that came with what was shown: the change is refused with `price-changed` when somebody else has ' +
      'changed the record since. null: whatever it is now.',
  })
  readonly seenAt?: number | null;
}

/** `newest`: where this node knows the log to end. Throws `invalid-field`. */
export function seenIn(field: string, seenAt: number, newest: Position): Position {
  if (seenAt < Number(beginning) || seenAt > Number(newest))
    throw invalidField(field, 'the value of seenAt that was returned with the price');
  return Position(seenAt);
}
