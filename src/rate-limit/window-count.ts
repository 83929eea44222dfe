/* The times of what counts within one window, oldest first: eight bytes each. Any of them can be given back. */

const fewEnded = 32;

export class WindowCount {
  /** Unix milliseconds. */
  private times: number[] = [];
  /** How many of them, at the front, are over. */
  private ended = 0;

  get count(): number {
    return this.times.length - this.ended;
  }

  /** `at`: now, to which it was moved. */
  take(at: number): void {
    this.times.push(at);
  }

  /**
   * Takes one back that was taken at that time; what is over already is not given back. Expensive only for old ones.
   */
  giveBack(at: number): void {
    const { times, ended } = this;
    if (at < (times[ended] ?? at)) return;
    let index = times.length - 1;
    // One from ahead of a clock that was set back counts as of then: it is among the newest.
    const taken = Math.min(at, times[index] ?? at);
    while (index >= ended && (times[index] ?? 0) > taken) index--;
    if (index >= ended && times[index] === taken) times.splice(index, 1);
  }

  /** What is older than the window is over. After the clock was set back, what lies ahead counts as of now. */
  moveTo(now: number, windowMs: number): void {
    const { times } = this;
    for (let index = times.length - 1; index >= this.ended && (times[index] ?? now) > now; index--) times[index] = now;
    while (this.ended < times.length && (times[this.ended] ?? now) <= now - windowMs) this.ended++;
    if (this.ended === times.length) this.times = [];
    else if (this.ended < fewEnded || this.ended * 2 < times.length) return;
    else times.splice(0, this.ended);
    this.ended = 0;
  }

  /** Milliseconds from `now`, to which it was moved, until the oldest is over; a whole window where there is none. */
  untilOldestEnds(now: number, windowMs: number): number {
    return (this.times[this.ended] ?? now) + windowMs - now;
  }
}
