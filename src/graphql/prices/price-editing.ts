import { ArrayMaxSize } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import {
  maxEdited,
  type PriceEditOrder,
  type PriceProposal,
  type StatedPrice,
} from '../../application/prices/price-editing.js';
import { Position } from '../../domain/events/events.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { PriceChangeOrigin } from '../../domain/options/option.js';
import type { PriceEdit } from '../../domain/pricing/records/price-edits.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';
import { editOrderOf } from './price-edit-order.js';
import { ModelPriceInput, PriceProposalObject, StatedPriceObject, seenIn } from './price-record.js';

/* Changing prices, and what is asked before. */

const PriceEditKindEnum = enumeration<PriceEdit['kind']>('PriceEditKind', 'What is done to many prices at once.', {
  MULTIPLY: 'multiply',
  MARGIN: 'margin',
  SET: 'set',
  COPY: 'copy',
  BUILT_IN: 'built-in',
});

@InputType()
export class PriceEditInput {
  @Field(() => PriceEditKindEnum)
  readonly kind!: PriceEdit['kind'];

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'MULTIPLY: of all that is in USD. MARGIN: of the purchase price, which gives the selling price.',
  })
  readonly factor?: string | null;

  @Field(() => String, { nullable: true, description: 'SET: call, tokens.NAME or pieces.NAME.' })
  readonly part?: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'SET: USD; without it and `ratio` the part is taken out.',
  })
  readonly usd?: string | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'SET, of tokens: relative to a token of plain input.' })
  readonly ratio?: string | null;

  @Field(() => String, { nullable: true, description: 'COPY: the model whose prices are taken.' })
  readonly from?: string | null;
}

@ArgsType()
class PriceEditArgs {
  @Field(() => [String], { description: `At most ${maxEdited}.` })
  @ArrayMaxSize(maxEdited)
  readonly models!: string[];

  @Field(() => PriceEditInput)
  readonly edit!: PriceEditInput;
}

/** Who is named as the author of a change, in the history. */
type ChangeKind = 'editor' | 'import' | 'revert';

const PriceChangeKindEnum = enumeration<ChangeKind>('PriceChangeKind', 'How a change of prices came about.', {
  EDITOR: 'editor',
  IMPORT: 'import',
  REVERT: 'revert',
});

const maxChanges = 5_000;

@ArgsType()
class ChangeModelPricesArgs {
  @Field(() => [ModelPriceInput], { description: `At most ${maxChanges}, each model once.` })
  @ArrayMaxSize(maxChanges)
  readonly changes!: ModelPriceInput[];

  @Field(() => PriceChangeKindEnum, { defaultValue: PriceChangeKindEnum.EDITOR })
  readonly kind!: ChangeKind;

  @Field(() => SafeIntScalar, { nullable: true, description: 'REVERT: the position of the change that is taken back.' })
  readonly revertOf?: number | null;
}

@ObjectType({ description: 'What has been stored.' })
class ChangedModelPrices {
  @Field(() => SafeIntScalar, { description: 'Of the change, in the log of events.' })
  readonly position!: Position;

  @Field(() => [StatedPriceObject], { description: 'As they are now; the first hundred.' })
  readonly prices!: readonly StatedPrice[];
}

const shownAfterwards = 100;

function originOf(kind: ChangeKind, revertOf: number | null | undefined): PriceChangeOrigin {
  const position = revertOf ?? null;
  if (kind !== 'revert') {
    if (position !== null) throw invalidField('revertOf', 'null, unless kind is REVERT');
    return { kind };
  }
  if (position === null || position < 0) throw invalidField('revertOf', 'the position of a change of prices');
  return { kind, position: Position(position) };
}

/** An order over many models. */
const heavy = 200;

@Resolver()
export class PriceEditingResolver {
  @Authorized('root-reading')
  @Query(() => StatedPriceObject)
  modelPrice(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('model', () => String) model: string,
  ): StatedPrice {
    return application.queries.modelPrice(viewer, model);
  }

  @Authorized('root')
  @Mutation(() => [PriceProposalObject], {
    complexity: heavy,
    description: 'What an edit would make of these models. Nothing is stored.',
  })
  proposePriceEdit(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PriceEditArgs) { models, edit }: PriceEditArgs,
  ): readonly PriceProposal[] {
    const order: PriceEditOrder = editOrderOf(edit);
    return application.queries.priceEdit(viewer, models, order);
  }

  @Authorized('root')
  @Mutation(() => ChangedModelPrices, {
    complexity: heavy,
    description: 'All of them or none, in one change. Refused with `price-changed` for what somebody else has changed.',
  })
  async changeModelPrices(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChangeModelPricesArgs) { changes, kind, revertOf }: ChangeModelPricesArgs,
  ): Promise<ChangedModelPrices> {
    const orders = changes.map(({ model, periods, seenAt }, index) => ({
      model,
      periods: periods ?? null,
      seenAt:
        seenAt === null || seenAt === undefined
          ? null
          : seenIn(`changes[${index}].seenAt`, seenAt, application.tail.position()),
    }));
    const origin = originOf(kind, revertOf);
    if (origin.kind === 'revert') await application.queries.checkPriceChange(viewer, 'revertOf', origin.position);
    try {
      const position = await application.prices.changePrices(viewer, orders, origin);
      await application.visible(position);
      const prices = orders.slice(0, shownAfterwards).map(({ model }) => application.queries.modelPrice(viewer, model));
      return { position, prices };
    } catch (error) {
      // What is there now is asked for next.
      if (error instanceof Failure && error.code === 'price-changed')
        await application.visible(Position(Number(error.details.position)));
      throw error;
    }
  }
}
