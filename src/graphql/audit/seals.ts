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
import type { PublicSealKey, Seal } from '../../application/ports/seal-ports.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type Compared, headText } from '../../application/seals/compare-head.js';
import { sealDigest } from '../../application/seals/seal.js';
import type { SealHead } from '../../application/seals/seal-queries.js';
import type { SealFinding } from '../../application/seals/seal-walk.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { SafeIntScalar, TimestampScalar } from '../server/scalars.js';

const WitnessEnum = enumeration<SealHead['witness']>(
  'SealWitnessState',
  'Whether the newest seal is the one that the gateway made last. REPLACED: it seals nothing more.',
  { NONE: 'none', SAME: 'same', REPLACED: 'replaced' },
);

const OutcomeEnum = enumeration<Compared['outcome']>(
  'SealComparisonOutcome',
  'MISSING: the seals end before, as those of an older copy do. DIFFERS: another seal has that number. ALTERED: events are not as they were sealed.',
  { SAME: 'same', MISSING: 'missing', DIFFERS: 'differs', ALTERED: 'altered' },
);

@ObjectType('Seal', { description: 'A signed hash over the next events of the log, which names the seal before it.' })
export class SealObject implements Omit<Seal, 'at'> {
  @Field(() => SafeIntScalar, { description: 'From 0.' })
  readonly number!: number;

  @Field(() => SafeIntScalar, { description: 'Position of its first event.' })
  readonly first!: Seal['first'];

  @Field(() => SafeIntScalar, { description: 'Position of its last event.' })
  readonly last!: Seal['last'];

  @Field(() => SafeIntScalar)
  readonly events!: number;

  @Field(() => String, { description: 'SHA-256 of their lines, in hex.' })
  readonly eventsHash!: string;

  @Field(() => String, { description: 'Digest of the seal before it.' })
  readonly previous!: string;

  @Field(() => String, { description: 'Name of the public key.' })
  readonly keyId!: string;

  @Field(() => String, { description: 'Ed25519, in base64url.' })
  readonly signature!: string;
}

@ObjectType('SealHead')
class SealHeadObject implements SealHead {
  @Field(() => SealObject, { nullable: true, description: 'The newest; null: nothing has been sealed yet.' })
  readonly seal!: Seal | null;

  @Field(() => WitnessEnum)
  readonly witness!: SealHead['witness'];

  @Field(() => String, { nullable: true, description: 'Of REPLACED, what differs.' })
  readonly reason!: string | null;
}

@ObjectType('SealPage')
class SealPageObject {
  @Field(() => [SealObject])
  readonly items!: readonly Seal[];

  @Field(() => Boolean, { description: 'Give the number of the last one as `before` for more.' })
  readonly hasMore!: boolean;
}

@ObjectType('PublicSealKey', { description: 'A key that seals are, or were, signed with.' })
class PublicSealKeyObject implements Omit<PublicSealKey, 'since'> {
  @Field(() => SafeIntScalar, { description: 'From 0.' })
  readonly number!: number;

  @Field(() => String)
  readonly id!: string;

  @Field(() => String, { description: 'Its 32 bytes, in base64url.' })
  readonly publicKey!: string;

  @Field(() => String, { nullable: true, description: 'By which the key before it names it; null: the first.' })
  readonly endorsement!: string | null;
}

@ObjectType('SealFinding', { description: 'Something that is otherwise than it was sealed.' })
class SealFindingObject implements SealFinding {
  @Field(() => String)
  readonly code!: SealFinding['code'];

  @Field(() => SafeIntScalar, { nullable: true, description: 'null: events between two seals.' })
  readonly seal!: number | null;

  @Field(() => SafeIntScalar)
  readonly first!: number;

  @Field(() => SafeIntScalar)
  readonly last!: number;

  @Field(() => String)
  readonly reason!: string;
}

@ObjectType('SealComparison', { description: 'Whether the log still has a seal that somebody has noted.' })
class SealComparisonObject implements Compared {
  @Field(() => OutcomeEnum)
  readonly outcome!: Compared['outcome'];

  @Field(() => SealObject, { nullable: true })
  readonly newest!: Seal | null;

  @Field(() => SafeIntScalar, {
    nullable: true,
    description: 'The last seal whose events were read; null: none were. Those after it are for the command.',
  })
  readonly checkedTo!: number | null;

  @Field(() => [SealFindingObject])
  readonly findings!: readonly SealFinding[];
}

@ArgsType()
class SealsArgs {
  @Field(() => SafeIntScalar, { nullable: true, description: 'null: from the newest.' })
  readonly before?: number | null;

  @Field(() => Int, { defaultValue: 20, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly first!: number;
}

/** A comparison reads events, up to a hundred thousand of them. */
const comparisonCost = 1_000;

@Resolver(() => SealObject)
class SealResolver {
  @FieldResolver(() => TimestampScalar)
  at(@Root() { at }: Seal): number {
    return unixSeconds(at);
  }

  @FieldResolver(() => String, { description: 'What the next seal names, and what is noted of this one, in hex.' })
  digest(@Root() seal: Seal): string {
    return sealDigest(seal);
  }

  @FieldResolver(() => String, { description: 'NUMBER:DIGEST, for a note.' })
  head(@Root() seal: Seal): string {
    return headText(seal);
  }

  @Authorized('admin-reading')
  @Query(() => SealHeadObject)
  sealHead(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<SealHead> {
    return application.queries.sealHead(viewer);
  }

  @Authorized('admin-reading')
  @Query(() => SealPageObject, { description: 'Newest first.' })
  seals(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => SealsArgs) { before, first }: SealsArgs,
  ): Promise<SealPageObject> {
    return application.queries.seals(viewer, { before: before ?? null, first });
  }

  @Authorized('admin-reading')
  @Query(() => [PublicSealKeyObject], { description: 'Oldest first.' })
  sealKeys(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<readonly PublicSealKey[]> {
    return application.queries.sealKeys(viewer);
  }

  @Authorized('admin-reading')
  @Query(() => SealComparisonObject, { complexity: comparisonCost, description: 'One at a time.' })
  compareSealHead(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('head', () => String, { description: 'NUMBER:DIGEST' }) head: string,
  ): Promise<Compared> {
    return application.queries.compareSealHead(viewer, head);
  }
}

@Resolver(() => PublicSealKeyObject)
class PublicSealKeyResolver {
  @FieldResolver(() => TimestampScalar)
  since(@Root() { since }: PublicSealKey): number {
    return unixSeconds(since);
  }
}

export const sealResolvers = [SealResolver, PublicSealKeyResolver] as const;
