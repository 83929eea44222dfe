/** How often something that is started again has ended unasked: now and then is borne with, again and again is not. */
export class RestartBudget {
  private at: number[] = [];

  constructor(
    private readonly max: number,
    private readonly withinMs: number,
  ) {}

  /** Counts one more. False: it was one too many. */
  bears(): boolean {
    const now = performance.now();
    this.at = [...this.at.filter((earlier) => now - earlier < this.withinMs), now];
    return this.at.length <= this.max;
  }
}
