import type { UserId } from '../../domain/kernel/ids.js';

/** What each of the cast has to spend as the past goes on, so that nobody in it spends what is not there. */
export class DemoBalances {
  private readonly left = new Map<UserId, number>();

  /** In quota. */
  of(user: UserId): number {
    return this.left.get(user) ?? 0;
  }

  /** `quota` below 0: it is spent. */
  add(user: UserId, quota: number): void {
    this.left.set(user, this.of(user) + quota);
  }
}
