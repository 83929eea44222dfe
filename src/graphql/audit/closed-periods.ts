import { Matches, Max, Min } from 'class-validator';
import {
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
import type { ListedPeriod } from '../../application/books/books-queries.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { PeriodArchived, PeriodClosed } from '../../domain/ledger/closing.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

@ObjectType('ClosedPeriod', {
  description: 'A period whose books are closed: what every account held at its end is recorded.',
})
class ClosedPeriodObject implements Pick<PeriodClosed, 'position' | 'entries' | 'digest'> {
  @Field(() => String, { description: 'A month, a day or a year of UTC, as 2026-10.' })
  readonly period!: string;

  @Field(() => SafeIntScalar, { description: 'Of the last event that counts.' })
  readonly position!: PeriodClosed['position'];

  @Field(() => SafeIntScalar, { description: 'Balances that are recorded.' })
  readonly entries!: number;

  @Field(() => String, { description: 'SHA-256 over the balances, in hex.' })
  readonly digest!: string;
}

@ObjectType('PeriodArchive', { description: 'The log of a closed period as a file.' })
class PeriodArchiveObject implements Pick<PeriodArchived, 'events' | 'digest'> {
  @Field(() => SafeIntScalar)
  readonly events!: number;

  @Field(() => String, { description: 'SHA-256 of the file, in hex.' })
  readonly digest!: string;
}

@ObjectType('ClosingBalance')
class ClosingBalanceObject {
  @Field(() => String, {
    description:
      'user:7:available, user:7:reserved, user:7:invites, apikey:3, channel:2, call:ID:user:7 of a call without an outcome, or an account of the house.',
  })
  readonly account!: string;

  @Field(() => String, { description: 'A whole number of any size.' })
  readonly amount!: string;
}

@ObjectType('ClosingBalancePage')
class ClosingBalancePageObject {
  @Field(() => [ClosingBalanceObject])
  readonly items!: readonly ClosingBalanceObject[];

  @Field(() => String, { nullable: true, description: 'Give it as `after` for more; null: these were the last.' })
  readonly next!: string | null;
}

@ArgsType()
class ClosingBalancesArgs {
  @Field(() => String)
  readonly period!: string;

  @Field(() => String, { nullable: true, description: '`next` of the page before.' })
  @Matches(/^\d{1,9}:\d{1,9}$/)
  readonly after?: string | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

@Resolver(() => ClosedPeriodObject)
class ClosedPeriodResolver {
  @FieldResolver(() => TimestampScalar, { description: 'When it was over.' })
  until(@Root() { until }: PeriodClosed): number {
    return unixSeconds(until);
  }

  @FieldResolver(() => String, { description: 'The seal that covers the last event, as NUMBER:DIGEST.' })
  seal(@Root() { seal }: PeriodClosed): string {
    return `${seal.number}:${seal.digest}`;
  }

  @FieldResolver(() => PeriodArchiveObject, { nullable: true, description: 'null: it has not been archived.' })
  archive(@Root() { archive }: ListedPeriod): PeriodArchived | null {
    return archive;
  }

  @Authorized('admin-reading')
  @Query(() => [ClosedPeriodObject], { description: 'Newest first.' })
  closedPeriods(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): Promise<readonly ClosedPeriodObject[]> {
    return application.queries.closedPeriods(viewer);
  }

  @Authorized('admin-reading')
  @Query(() => ClosingBalancePageObject, { description: 'What accounts held at the end of a closed period, by name.' })
  async closingBalances(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ClosingBalancesArgs) { period, after, first }: ClosingBalancesArgs,
  ): Promise<ClosingBalancePageObject> {
    const [part = 0, index = 0] = (after ?? '').split(':').map(Number);
    const cursor = after === null || after === undefined ? null : { part, index };
    const { items, next } = await application.queries.closingBalances(viewer, period, { after: cursor, first });
    return {
      items: items.map(([account, amount]) => ({ account, amount })),
      next: next === null ? null : `${next.part}:${next.index}`,
    };
  }
}

export const closedPeriodResolvers = [ClosedPeriodResolver] as const;
