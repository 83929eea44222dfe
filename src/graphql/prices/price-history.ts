import { Max, Min } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { PriceProposal } from '../../application/prices/price-editing.js';
import type { PriceChange } from '../../application/prices/price-queries.js';
import { Position } from '../../domain/events/events.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { PriceChangeOrigin } from '../../domain/options/option.js';
import type { RecordDifference } from '../../domain/pricing/records/record-differences.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';
import { UserObject } from '../users/user.js';
import { PriceProposalObject, RecordDifferenceObject } from './price-record.js';

/* What has become of the price table. */

type OriginKind = PriceChangeOrigin['kind'];

const OriginKindEnum = enumeration<OriginKind>('PriceChangeOrigin', 'Where a change of prices came from.', {
  EDITOR: 'editor',
  IMPORT: 'import',
  OPTION: 'option',
  SOURCE: 'source',
  REVERT: 'revert',
});

@ObjectType('PriceChange', { description: 'What one change made of the record of one model.' })
class PriceChangeObject implements Pick<PriceChange, 'position' | 'model' | 'differences' | 'hadRecord' | 'hasRecord'> {
  @Field(() => SafeIntScalar, { description: 'Of the change, in the log of events. Other models may have it too.' })
  readonly position!: Position;

  @Field(() => String)
  readonly model!: string;

  @Field(() => [RecordDifferenceObject])
  readonly differences!: readonly RecordDifference[];

  @Field(() => Boolean, { description: 'There was a record before; otherwise options and built-in prices held.' })
  readonly hadRecord!: boolean;

  @Field(() => Boolean, { description: 'There was one after it.' })
  readonly hasRecord!: boolean;
}

@ObjectType()
class PriceHistory {
  @Field(() => [PriceChangeObject])
  readonly items!: readonly PriceChange[];

  @Field(() => Boolean, { description: 'Give `position` and `model` of the last one for older ones.' })
  readonly hasMore!: boolean;
}

@ArgsType()
class PriceHistoryArgs {
  @Field(() => String, { nullable: true, description: 'null: of all models.' })
  readonly model?: string | null;

  @Field(() => SafeIntScalar, { nullable: true, description: 'Only what is older; with `beforeModel`.' })
  readonly before?: number | null;

  @Field(() => String, { defaultValue: '' })
  readonly beforeModel!: string;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

const detailOf = (origin: PriceChangeOrigin): string | null => {
  switch (origin.kind) {
    case 'option':
      return origin.key;
    case 'source':
      return origin.name;
    default:
      return null;
  }
};

@Resolver(() => PriceChangeObject)
export class PriceHistoryResolver {
  @Authorized('root-reading')
  @Query(() => PriceHistory, { description: 'Newest first.' })
  priceHistory(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PriceHistoryArgs) { model, before, beforeModel, first }: PriceHistoryArgs,
  ): Promise<PriceHistory> {
    const cursor = before === null || before === undefined ? null : { position: Position(before), model: beforeModel };
    return application.queries.priceHistory(viewer, { model: model ?? null, before: cursor, first });
  }

  @Authorized('root-reading')
  @Query(() => [PriceProposalObject], {
    description: 'What would take a change back: give it to changeModelPrices. Nothing is stored.',
  })
  priceRevert(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('position', () => SafeIntScalar) position: number,
    @Arg('model', () => String, { nullable: true, description: 'null: of all its models.' }) model?: string | null,
  ): Promise<readonly PriceProposal[]> {
    return application.queries.priceRevert(viewer, Position(position), model ?? null);
  }

  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: PriceChange): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => UserObject, { nullable: true, description: 'null: nobody, not known, or erased.' })
  async by(@Root() { by }: PriceChange, @Ctx() { userById }: GraphqlContext): Promise<UserRow | null> {
    return by === null ? null : userById(by);
  }

  @FieldResolver(() => OriginKindEnum)
  origin(@Root() { origin }: PriceChange): OriginKind {
    return origin.kind;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The option or the source it came from; null: neither.' })
  originName(@Root() { origin }: PriceChange): string | null {
    return detailOf(origin);
  }
}
