import { type Position, streams } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { enteredQuota, minus, plusQuota, Quota, zero } from '../../domain/kernel/quota.js';
import type { Actor, UserCommand } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import { mustReach } from '../memory/tail.js';
import { runUserCommand, type UserPorts } from './user-command-ports.js';

/* An administrator changes a balance: by a difference, or to a sum. */

type BalancePorts = Pick<UserPorts, 'handle' | 'once' | 'gate' | 'tail'>;

export interface QuotaChange {
  /** Added to the balance; negative: taken off. */
  readonly delta: number;
  /** Given on top of it; missing: nothing. */
  readonly gift?: number;
}

interface QuotaAdjustment extends QuotaChange {
  readonly id: UserId;
  /** The client's idempotency key; a repeat changes nothing. */
  readonly key: string | null;
}

export async function adjustQuota(
  ports: BalancePorts,
  actor: Actor,
  { id, delta, gift = 0, key }: QuotaAdjustment,
): Promise<Position> {
  authorise(actor, 'admin');
  const total = plusQuota(enteredQuota('delta', delta), enteredQuota('gift', gift));
  const content = JSON.stringify(['adjust quota', id, delta, gift]);
  return ports.once({ actor: actor.id, key, content }, async ({ mark }) => {
    const adjusting = async (): Promise<UserCommand> => {
      const observed = await ports.gate.available(id);
      plusQuota(observed, total); // refuses a result beyond the largest safe integer
      return { type: 'AdjustQuota', by: actor, delta: total, gift: Quota(gift), observed };
    };
    const { position } = await runUserCommand(ports.handle.by(actor), id, adjusting, mark(streams.user(id)));
    return position;
  });
}

/** A form of a user with a balance in it, as it was typed. */
export interface BalanceForm {
  /** The balance the user shall have; null: unchanged. */
  readonly quota: number | null;
  /**
   * The balance the form showed: what is added is the difference to it, so that what was spent while the form was open
   * stays spent. Missing or null: the difference to the balance now.
   */
  readonly shownQuota?: number | null;
  /**
   * The same where the form does not say it: what its sender read last. It is not part of what is asked for, as the
   * repeat of an order may come after another reading.
   */
  readonly readQuota?: number | null;
}

interface WantedBalance {
  readonly balance: Quota;
  /** As the form says it. */
  readonly shown: Quota | null;
  /** What the difference is taken to; null: the balance now. */
  readonly before: Quota | null;
}

/** Throws what is wrong with a sum. null: the balance stays. */
export function wantedBalance({ quota, shownQuota, readQuota }: BalanceForm): WantedBalance | null {
  const balance = quota === null ? null : enteredQuota('quota', quota);
  const shown = typeof shownQuota === 'number' ? enteredQuota('shownQuota', shownQuota) : null;
  const before = shown ?? (typeof readQuota === 'number' ? enteredQuota('shownQuota', readQuota) : null);
  return balance === null ? null : { balance, shown, before };
}

export async function setBalance(
  ports: BalancePorts,
  actor: Actor,
  { id, key, balance, shown, before }: WantedBalance & { readonly id: UserId; readonly key: string | null },
): Promise<Position> {
  const content = JSON.stringify(['set quota', id, balance, shown]);
  return ports.once({ actor: actor.id, key, content }, async ({ mark }) => {
    const adjusting = async (seen: Position): Promise<UserCommand> => {
      await mustReach(ports.tail, seen);
      const observed = await ports.gate.available(id);
      const delta = minus(balance, before ?? observed);
      plusQuota(observed, delta); // refuses a result beyond the largest safe integer
      return { type: 'AdjustQuota', by: actor, delta, gift: zero, observed };
    };
    const { position } = await runUserCommand(ports.handle.by(actor), id, adjusting, mark(streams.user(id)));
    return position;
  });
}
