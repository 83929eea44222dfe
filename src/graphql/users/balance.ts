import { Authorized, Ctx, Field, ID, ObjectType, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { Application } from '../../application/application.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { behindPauseMs, pause, stoppable } from '../live/live.js';
import type { SubscriptionContext, SubscriptionData } from '../live/subscription-data.js';
import { type GraphqlContext, signedIn, Viewer } from '../server/context.js';
import { QuotaScalar, SafeIntScalar } from '../server/scalars.js';

/** A busy key moves the balance thousands of times a second; nobody can read more than this. */
const minPauseMs = 250;

@ObjectType({ description: 'The wallet of who asks.' })
class Balance {
  @Field(() => ID)
  readonly userId!: UserId;

  @Field(() => QuotaScalar, {
    description: 'What may be spent at this moment: holds of calls under way are taken off.',
  })
  readonly available!: Quota;

  @Field(() => QuotaScalar)
  readonly usedQuota!: Quota;

  @Field(() => SafeIntScalar, { description: 'Settled calls that used tokens.' })
  readonly requestCount!: number;

  @Field(() => SafeIntScalar, { description: 'Users who came by the invite code.' })
  readonly invitedCount!: number;

  @Field(() => QuotaScalar, { description: 'Earned by inviting, and not to be spent before it is transferred.' })
  readonly inviteQuota!: Quota;

  @Field(() => QuotaScalar, { description: 'Earned by inviting, transferred or not.' })
  readonly inviteQuotaEver!: Quota;
}

@Resolver()
export class BalanceResolver {
  @Authorized()
  @Query(() => Balance)
  balance(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<Balance> {
    return balanceOf(application, viewer);
  }

  @Authorized()
  @Subscription(() => Balance, {
    name: 'balance',
    description: `At once, then whenever it changes; at most every ${minPauseMs} ms.`,
    subscribe: ({ context }: SubscriptionData) => stoppable((signal) => balances(context, signal)),
  })
  balanceChanged(@Root() balance: Balance): Balance {
    return balance;
  }
}

async function balanceOf({ gate, queries }: Application, viewer: UserView): Promise<Balance> {
  const [available, sums] = await Promise.all([gate.available(viewer.id), queries.ownSums(viewer)]);
  return {
    userId: viewer.id,
    available,
    usedQuota: sums.used_quota,
    requestCount: sums.request_count,
    invitedCount: sums.invited_count,
    inviteQuota: sums.invite_quota,
    inviteQuotaEver: sums.invite_quota_ever,
  };
}

async function* balances(
  { application, caller, wallets }: SubscriptionContext,
  signal: AbortSignal,
): AsyncGenerator<Balance, void, undefined> {
  const { id } = await signedIn(caller);
  const moved = new WakeUpSignal();
  let newest = application.tail.position();
  const forget = wallets.add(id, (position) => {
    newest = position;
    moved.ring();
  });
  try {
    yield await balanceOf(application, await signedIn(caller));
    while (await moved.received(signal)) {
      // The gate knows at once; the sums beside it come from a read model.
      const whole = await application.visible(newest);
      yield await balanceOf(application, await signedIn(caller));
      // Sums that are behind are sent again, also when nothing moves any more.
      if (!whole) moved.ring();
      if (!(await pause(whole ? minPauseMs : behindPauseMs, signal))) return;
    }
  } finally {
    forget();
  }
}
