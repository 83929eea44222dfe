/** The values that were added last: at most so many, and the oldest is forgotten for a new one. */
export class RecentSet<Value> {
  private readonly values = new Set<Value>();

  constructor(private readonly most: number) {}

  has(value: Value): boolean {
    return this.values.has(value);
  }

  add(value: Value): void {
    this.values.add(value);
    for (const oldest of this.values) {
      if (this.values.size <= this.most) break;
      this.values.delete(oldest);
    }
  }
}
