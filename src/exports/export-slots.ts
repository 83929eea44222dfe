/** How many may be had at once, by each holder and by all together. */
export class ExportSlots {
  private readonly taken = new Map<number, number>();
  private all = 0;

  constructor(private readonly max: { readonly each: number; readonly all: number }) {}

  /** Gives the place back, once; null: there is none. */
  take(holder: number): (() => void) | null {
    const own = this.taken.get(holder) ?? 0;
    if (own >= this.max.each || this.all >= this.max.all) return null;
    this.taken.set(holder, own + 1);
    this.all += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.all -= 1;
      const left = (this.taken.get(holder) ?? 1) - 1;
      if (left === 0) this.taken.delete(holder);
      else this.taken.set(holder, left);
    };
  }
}
