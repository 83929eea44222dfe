import type { SubscribeResolverData } from 'type-graphql';
import type { GraphqlContext } from '../server/context.js';
import type { TaskWatch } from './task-watch.js';
import type { WalletWatch } from './wallet-watch.js';

/** What resolvers of subscriptions get besides. */
export interface SubscriptionContext extends GraphqlContext {
  readonly wallets: WalletWatch;
  readonly tasks: TaskWatch;
}

/** What a subscription's `subscribe` gets; the arguments are plain values, not yet instances of their class. */
export type SubscriptionData<Args extends object = Record<string, never>> = SubscribeResolverData<
  unknown,
  Args,
  SubscriptionContext
>;
