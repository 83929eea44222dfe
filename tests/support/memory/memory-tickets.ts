import type { Clock, TicketKind, Tickets } from '../../../src/application/ports/storage-ports.js';

interface Ticket {
  readonly code: string;
  readonly content: string;
  readonly expiresAt: number;
  triesLeft: number;
}

/** Tickets of one process. */
export class MemoryTickets implements Tickets {
  private readonly tickets = new Map<string, Ticket>();

  constructor(private readonly clock: Clock) {}

  async issue(
    kind: TicketKind,
    name: string,
    { code, content, lifetimeMs, tries }: Parameters<Tickets['issue']>[2],
  ): Promise<void> {
    const expiresAt = this.clock.now() + lifetimeMs;
    this.tickets.set(`${kind} ${name}`, { code, content, expiresAt, triesLeft: tries });
  }

  async restore(...[kind, name, ticket]: Parameters<Tickets['issue']>): Promise<void> {
    const there = this.tickets.get(`${kind} ${name}`);
    if (there === undefined || there.expiresAt <= this.clock.now()) await this.issue(kind, name, ticket);
  }

  async check(kind: TicketKind, name: string, code: string): Promise<string | null> {
    const ticket = this.tickets.get(`${kind} ${name}`);
    if (ticket === undefined || ticket.triesLeft <= 0 || ticket.expiresAt <= this.clock.now()) return null;
    if (ticket.code === code) return ticket.content;
    ticket.triesLeft -= 1;
    return null;
  }

  async redeem(kind: TicketKind, name: string, code: string): Promise<string | null> {
    const redeemed = this.check(kind, name, code);
    // Before anybody else can bring it.
    if (this.tickets.get(`${kind} ${name}`)?.code === code) this.tickets.delete(`${kind} ${name}`);
    return redeemed;
  }

  async spend(kind: TicketKind, name: string, lifetimeMs: number): Promise<boolean> {
    const spent = this.tickets.get(`${kind} ${name}`);
    if (spent !== undefined && spent.expiresAt > this.clock.now()) return false;
    const expiresAt = this.clock.now() + lifetimeMs;
    this.tickets.set(`${kind} ${name}`, { code: '', content: '', expiresAt, triesLeft: 0 });
    return true;
  }

  async drop(kind: TicketKind, name: string): Promise<void> {
    this.tickets.delete(`${kind} ${name}`);
  }
}
