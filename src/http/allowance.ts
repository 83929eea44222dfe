/*
 * How much work a client may make. It has an allowance that fills up evenly; what is spent is gone until then. In this
 * process's memory, which forgets the client that was seen least recently: its allowance was nearly full again.
 */

interface AllowanceRule {
  /** What a client that has rested may spend at once; filled up again within a minute. */
  readonly perMinute: number;
}

interface MillisecondClock {
  now(): number;
}

const clientsKept = 20_000;
const minuteMs = 60_000;

interface Account {
  left: number;
  /** Unix milliseconds of the last filling. */
  filledAt: number;
}

export class Allowance {
  private readonly accounts = new Map<string | number, Account>();

  constructor(
    private readonly rule: AllowanceRule,
    private readonly clock: MillisecondClock,
  ) {}

  /** Spends what is there to be spent; else spends nothing and says in how many seconds it will be there. */
  spend(client: string | number, amount: number): { readonly retryAfterSeconds: number } | null {
    const account = this.accountOf(client);
    // What costs more than anybody can ever have is paid with all of it: other limits say what is too much at all.
    const price = Math.min(amount, this.rule.perMinute);
    if (account.left >= price) {
      account.left -= price;
      return null;
    }
    return { retryAfterSeconds: Math.ceil((price - account.left) / (this.rule.perMinute / 60)) };
  }

  /** Whether something is left, without spending it. */
  has(client: string | number, amount: number): boolean {
    const account = this.accounts.get(client);
    return (account === undefined ? this.rule.perMinute : this.filled(account, this.clock.now())) >= amount;
  }

  private filled({ left, filledAt }: Account, now: number): number {
    const { perMinute } = this.rule;
    return Math.min(perMinute, left + (Math.max(0, now - filledAt) * perMinute) / minuteMs);
  }

  private accountOf(client: string | number): Account {
    const now = this.clock.now();
    const account = this.accounts.get(client) ?? { left: this.rule.perMinute, filledAt: now };
    account.left = this.filled(account, now);
    account.filledAt = now;
    // Set anew so that the map stays in order of use.
    this.accounts.delete(client);
    this.accounts.set(client, account);
    if (this.accounts.size > clientsKept) {
      const [oldest] = this.accounts.keys();
      if (oldest !== undefined) this.accounts.delete(oldest);
    }
    return account;
  }
}
