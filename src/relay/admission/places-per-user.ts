import type { UserId } from '../../domain/kernel/ids.js';

/** How many of something each user has at once; more are refused. */
export class PlacesPerUser {
  private readonly taken = new Map<UserId, number>();

  constructor(private readonly max: number) {}

  /** Gives it back, once. null: all are taken. */
  take(user: UserId): (() => void) | null {
    const before = this.taken.get(user) ?? 0;
    if (before >= this.max) return null;
    this.taken.set(user, before + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.taken.get(user) ?? 1) - 1;
      if (left > 0) this.taken.set(user, left);
      else this.taken.delete(user);
    };
  }
}
