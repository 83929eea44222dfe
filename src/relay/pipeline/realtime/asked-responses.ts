/* Responses that were asked for and have not begun: something is held for each until it begins, or is known not to. */

/** How long one is held for that an unnamed failure may have been the refusal of. */
export const doubtMs = 30_000;

interface Asked {
  /** Of the event that asks for it, as it went upstream. */
  readonly event: string;
  /** `performance.now()` of a failure that may be its refusal. */
  doubtedAt: number | null;
}

export class AskedResponses {
  private asked: Asked[] = [];

  get count(): number {
    return this.asked.length;
  }

  add(event: string): void {
    this.asked.push({ event, doubtedAt: null });
  }

  /** Responses begin in the order in which they were asked for. False: none was. */
  begun(): boolean {
    return this.asked.shift() !== undefined;
  }

  /** Upstream has refused an event; '': it does not say which, and goes on to answer where it was another. */
  refused(event: string, now: number): void {
    if (event !== '') {
      this.asked = this.asked.filter((one) => one.event !== event);
      return;
    }
    const doubted = this.asked.find(({ doubtedAt }) => doubtedAt === null);
    if (doubted !== undefined) doubted.doubtedAt = now;
  }

  /** Gives up those that have been in doubt for long. */
  dropDoubted(now: number): void {
    this.asked = this.asked.filter(({ doubtedAt }) => doubtedAt === null || now - doubtedAt < doubtMs);
  }
}
