import { ArrayMaxSize } from 'class-validator';
import { Arg, Args, ArgsType, Authorized, Ctx, Field, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { PriceProposal } from '../../application/prices/price-editing.js';
import { maxFilePrices, maxPriceFileBytes, type PriceFileFault } from '../../domain/pricing/records/price-file.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { PriceProposalObject } from './price-record.js';

/* Prices as a file. */

@ObjectType('PriceFileFault', { description: 'What is wrong in a file of prices.' })
class PriceFileFaultObject implements PriceFileFault {
  @Field(() => Int, { description: 'Which of the prices, from 1; 0: the file as such.' })
  readonly row!: number;

  @Field(() => String, { description: 'The path to what is wrong.' })
  readonly field!: string;

  @Field(() => String, { description: 'What is allowed there, in words.' })
  readonly allowed!: string;
}

@ObjectType('PriceFileContent', { description: 'What a file of prices would change, or all that is wrong with it.' })
class PriceFileContent {
  @Field(() => [PriceProposalObject])
  readonly proposals!: readonly PriceProposal[];

  @Field(() => Int, { description: 'Models that it leaves as they are.' })
  readonly unchanged!: number;

  @Field(() => [PriceFileFaultObject])
  readonly faults!: readonly PriceFileFault[];
}

@ArgsType()
class ExportPricesArgs {
  @Field(() => [String], { nullable: true, description: `At most ${maxFilePrices}; left out: all that have a price.` })
  @ArrayMaxSize(maxFilePrices)
  readonly models?: string[] | null;
}

/** An order over many models. */
const heavy = 200;

@Resolver()
export class PriceFileResolver {
  @Authorized('root')
  @Mutation(() => String, {
    complexity: heavy,
    description: 'Prices as JSON, in the form of the records. Nothing is stored.',
  })
  exportPrices(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ExportPricesArgs) { models }: ExportPricesArgs,
  ): string {
    return application.queries.exportPrices(viewer, models ?? null);
  }

  @Authorized('root')
  @Mutation(() => PriceFileContent, {
    complexity: heavy,
    description:
      'Compares a file of prices with what holds now. Nothing is stored: give the proposals to changeModelPrices.',
  })
  readPriceFile(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('file', () => String, { description: `As exported; at most ${maxPriceFileBytes} bytes.` }) file: string,
  ): PriceFileContent {
    return application.queries.readPriceFile(viewer, file);
  }
}
