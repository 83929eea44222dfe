import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Float,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { PriceSourceView } from '../../application/prices/published-sources.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { builtInPricesDay } from '../../domain/pricing/built-in/newer-prices.js';
import type { SourceForm } from '../../domain/pricing/sources/published-price.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { DecimalScalar, SafeIntScalar, TimestampScalar } from '../server/scalars.js';

/* Where prices are published, and what was read there. */

const FormEnum = enumeration<SourceForm>('PriceListForm', 'A form in which price lists are published.', {
  GENAI_PRICES: 'genai-prices',
  LITELLM: 'litellm',
  OPENROUTER_MODELS: 'openrouter-models',
  RATIO_CONFIG: 'ratio-config',
  PRICING: 'pricing',
});

@ObjectType({ description: 'What is asked for, as a factor of the price of the source.' })
class PriceMargin {
  @Field(() => String)
  readonly name!: string;

  @Field(() => DecimalScalar)
  readonly margin!: string;
}

@ObjectType('PriceSource', { description: 'Where prices are published.' })
class PriceSourceObject implements Pick<PriceSourceView, 'name' | 'url' | 'bareNames' | 'daily' | 'isFile' | 'bound'> {
  @Field(() => String)
  readonly name!: string;

  @Field(() => String, { description: 'Empty: it is the file that was given last.' })
  readonly url!: string;

  @Field(() => Boolean)
  readonly isFile!: boolean;

  @Field(() => Boolean, { description: 'A name such as `vendor/model` is read as `model`.' })
  readonly bareNames!: boolean;

  @Field(() => Boolean, { description: 'It is fetched once a day.' })
  readonly daily!: boolean;

  @Field(() => DecimalScalar, { description: 'By how much a price may move by itself, either way.' })
  readonly bound!: string;
}

@ArgsType()
class PublishedPricesArgs {
  @Field(() => String, { description: 'The file, compressed with gzip, as base64.' })
  readonly gzip!: string;

  @Field(() => Boolean, { defaultValue: false, description: 'A name such as `vendor/model` is read as `model`.' })
  readonly bareNames!: boolean;

  @Field(() => Float, { defaultValue: 1, description: '0.1 to 10: what its prices are multiplied by.' })
  readonly margin!: number;
}

/** Thousands of models are read. */
const heavy = 200;

@Resolver(() => PriceSourceObject)
export class PriceSourceResolver {
  @Query(() => String, { description: 'As of which day the built-in prices are, such as 2026-11-28.' })
  builtInPricesDay(): string {
    return builtInPricesDay;
  }

  @Authorized('root')
  @Query(() => [PriceSourceObject], { description: 'Those of the option PriceSources, and the file given last.' })
  priceSources(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly PriceSourceView[] {
    return application.priceUpdates.priceSources(viewer);
  }

  @Authorized('root')
  @Mutation(() => PriceSourceObject, { complexity: heavy })
  fetchPriceSource(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('name', () => String) name: string,
  ): Promise<PriceSourceView> {
    return application.priceUpdates.fetchPriceSource(viewer, name);
  }

  @Authorized('root')
  @Mutation(() => PriceSourceObject, { complexity: heavy, description: 'Reads a price list from a file.' })
  readPublishedPrices(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => PublishedPricesArgs) { gzip, bareNames, margin }: PublishedPricesArgs,
  ): Promise<PriceSourceView> {
    return application.priceUpdates.readPublishedFile(viewer, { gzip, bareNames, margin });
  }

  @FieldResolver(() => Boolean, { description: 'A daily fetch changes prices within the bound by itself.' })
  appliesUnasked(@Root() { apply }: PriceSourceView): boolean {
    return apply === 'within-bounds';
  }

  @FieldResolver(() => Boolean, { description: 'It is being read now.' })
  isReading(@Root() { state }: PriceSourceView): boolean {
    return state.isReading;
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'null: not since this node started.' })
  triedAt(@Root() { state }: PriceSourceView): number | null {
    return state.triedAt === null ? null : unixSeconds(state.triedAt);
  }

  @FieldResolver(() => TimestampScalar, { nullable: true, description: 'null: not since this node started.' })
  readAt(@Root() { state }: PriceSourceView): number | null {
    return state.reading === null ? null : unixSeconds(state.reading.at);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Why the last try failed; null: it did not.' })
  failure(@Root() { state: { failure } }: PriceSourceView): string | null {
    return failure === null ? null : String(failure.details.reason ?? failure.code);
  }

  @FieldResolver(() => FormEnum, { nullable: true, description: 'Of what was read last.' })
  form(@Root() { state }: PriceSourceView): SourceForm | null {
    return state.reading?.prices.form ?? null;
  }

  @FieldResolver(() => SafeIntScalar, { nullable: true, description: 'Models with a price, of what was read last.' })
  models(@Root() { state }: PriceSourceView): number | null {
    return state.reading?.prices.models.length ?? null;
  }

  @FieldResolver(() => DecimalScalar, { description: 'Where neither the family nor the vendor of a model has one.' })
  usualMargin(@Root() { margin }: PriceSourceView): string {
    return margin.usual;
  }

  @FieldResolver(() => [PriceMargin], { description: 'By vendor.' })
  vendorMargins(@Root() { margin }: PriceSourceView): PriceMargin[] {
    return [...margin.vendors].map(([name, factor]) => ({ name, margin: factor }));
  }

  @FieldResolver(() => [PriceMargin], { description: 'By the beginning of the name of a model.' })
  familyMargins(@Root() { margin }: PriceSourceView): PriceMargin[] {
    return [...margin.families].map(([name, factor]) => ({ name, margin: factor }));
  }

  @FieldResolver(() => [PriceMargin], {
    description: 'By group of users, the least that it is to pay over the price of the source, its ratio counted.',
  })
  groupMinimums(@Root() { margin }: PriceSourceView): PriceMargin[] {
    return [...margin.groups].map(([name, factor]) => ({ name, margin: factor }));
  }

  @FieldResolver(() => [PriceMargin], {
    description: 'What each group pays over the price of the source, with the usual margin and the ratio of the group.',
  })
  groupMargins(
    @Root() { margin }: PriceSourceView,
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): PriceMargin[] {
    const groups = application.priceUpdates.groupMargins(viewer, margin.usual);
    return groups.map(({ group, margin: factor }) => ({ name: group, margin: factor }));
  }
}
