import { createHash } from 'node:crypto';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../../src/application/ports/outbound-ports.js';
import type {
  Client,
  IdKind,
  Ids,
  OpenSession,
  Passwords,
  PendingIdempotencyKey,
  PendingIdempotencyKeys,
  PersonalData,
  Session,
  Sessions,
  Vault,
} from '../../../src/application/ports/storage-ports.js';
import { beginning, type Position } from '../../../src/domain/events/events.js';
import type { IdentityKind } from '../../../src/domain/kernel/claim.js';
import { IdentityClaim, Sealed, SecretId, type UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { Language } from '../../../src/domain/kernel/language.js';

/* The world of an application test, in memory. Each keeps the promises of its port and shows what it was asked. */

export class CountingIds implements Ids {
  private last = 0;

  private readonly orders = new Map<string, number>();

  async next(): Promise<number> {
    this.last += 1;
    return this.last;
  }

  async allotted(kind: IdKind, order: string): Promise<number> {
    const name = `${kind} ${order}`;
    const id = this.orders.get(name) ?? ++this.last;
    this.orders.set(name, id);
    return id;
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export class MemoryVault implements Vault {
  readonly secrets = new Map<SecretId, string>();
  private stored = 0;

  async put(secret: string): Promise<SecretId> {
    const id = SecretId(`secret-${++this.stored}`);
    this.secrets.set(id, secret);
    return id;
  }

  async get(id: SecretId): Promise<string | null> {
    return this.secrets.get(id) ?? null;
  }

  async getMany(ids: readonly SecretId[]): Promise<ReadonlyMap<SecretId, string>> {
    return new Map([...this.secrets].filter(([id]) => ids.includes(id)));
  }

  async drop(ids: readonly SecretId[]): Promise<void> {
    for (const id of ids) this.secrets.delete(id);
  }

  hash(secret: string): string {
    return digest(`vault:${secret}`);
  }
}

export class MemoryPersonalData implements PersonalData {
  private readonly texts = new Map<Sealed, { readonly user: UserId; readonly text: string }>();

  async seal(user: UserId, text: string): Promise<Sealed> {
    const sealed = Sealed(`sealed-${this.texts.size + 1}`);
    this.texts.set(sealed, { user, text });
    return sealed;
  }

  async open(user: UserId, sealed: Sealed): Promise<string | null> {
    const found = this.texts.get(sealed);
    return found?.user === user ? found.text : null;
  }

  openAll(texts: readonly { readonly user: UserId; readonly sealed: Sealed }[]): Promise<(string | null)[]> {
    return Promise.all(texts.map(({ user, sealed }) => this.open(user, sealed)));
  }

  searchToken(term: string): string {
    return digest(`search:${term}`);
  }

  identityClaim(kind: IdentityKind, subject: string): IdentityClaim {
    return IdentityClaim(digest(`identity:${kind}:${subject}`));
  }

  async forget(users: readonly UserId[]): Promise<void> {
    for (const [sealed, { user: owner }] of this.texts) if (users.includes(owner)) this.texts.delete(sealed);
  }
}

export class DigestPasswords implements Passwords {
  /** How many passwords have been compared: the work a login costs. */
  verified = 0;

  async hash(password: string): Promise<string> {
    return digest(`password:${password}`);
  }

  async verify(hash: string, password: string): Promise<boolean> {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('not the hash of a password');
    this.verified += 1;
    return hash === (await this.hash(password));
  }
}

export class MemorySessions implements Sessions {
  private readonly sessions = new Map<
    string,
    Session & { ended: boolean; readonly client: Client; readonly openedAt: Instant }
  >();
  private opened = 0;
  private readonly languages = new Map<number, Language>();

  constructor(private readonly clock: { now(): Instant } = { now: () => Instant(0) }) {}

  async languageOf(user: UserId): Promise<Language | null> {
    return this.languages.get(user) ?? null;
  }

  async open(session: Session, client: Client): Promise<string> {
    this.opened += 1;
    if (client.language) this.languages.set(session.user, client.language);
    const token = `session-${this.opened}`;
    this.sessions.set(token, { ...session, ended: false, client, openedAt: this.clock.now() });
    return token;
  }

  async find(token: string): Promise<(Session & { ended: boolean }) | null> {
    const found = this.sessions.get(token);
    return found === undefined ? null : { user: found.user, since: found.since, ended: found.ended };
  }

  async close(token: string): Promise<void> {
    this.sessions.delete(token);
  }

  async endOlder(user: UserId, position: Position): Promise<void> {
    for (const session of this.sessions.values())
      if (session.user === user && session.since < position) session.ended = true;
  }

  async closeOlder(user: UserId, position: Position): Promise<void> {
    for (const [token, session] of this.sessions)
      if (session.user === user && session.since < position) this.sessions.delete(token);
  }

  idOf(token: string): string {
    return digest(`session:${token}`).slice(0, 24);
  }

  async openOf(user: UserId, position: Position): Promise<OpenSession[]> {
    return [...this.sessions]
      .filter(([, session]) => session.user === user && session.since >= position && !session.ended)
      .map(([token, { client, openedAt }]) => ({ id: this.idOf(token), openedAt, seenAt: openedAt, client }))
      .reverse();
  }

  async closeOne(user: UserId, id: string): Promise<boolean> {
    for (const [token, session] of this.sessions)
      if (session.user === user && this.idOf(token) === id) return this.sessions.delete(token);
    return false;
  }

  async closeOthers(user: UserId, id: string): Promise<string[]> {
    const closed = (await this.openOf(user, beginning)).filter((session) => session.id !== id);
    for (const session of closed) await this.closeOne(user, session.id);
    return closed.map((session) => session.id);
  }
}

export class MemoryPendingIdempotencyKeys implements PendingIdempotencyKeys {
  private readonly orders = new Map<string, PendingIdempotencyKey>();

  async left(after: Instant): Promise<readonly PendingIdempotencyKey[]> {
    for (const { key, since } of this.orders.values()) if (since <= after) this.orders.delete(key);
    return [...this.orders.values()];
  }

  async begin(order: PendingIdempotencyKey): Promise<void> {
    this.orders.set(order.key, order);
  }

  async end(key: string): Promise<void> {
    this.orders.delete(key);
  }

  private readonly forms = new Map<string, string>();

  async bind(name: string, form: string): Promise<{ form: string; isNew: boolean }> {
    const known = this.forms.get(name);
    if (known === undefined) this.forms.set(name, form);
    return { form: known ?? form, isNew: known === undefined };
  }

  async unbind(name: string): Promise<void> {
    this.forms.delete(name);
  }
}

/** Somebody out there who takes whatever is sent, unless set otherwise. */
export class RecordingOutbound implements Outbound {
  readonly sent: OutboundRequest[] = [];
  answer: OutboundAnswer = { ok: true, status: 200, headers: new Map(), body: Buffer.alloc(0) };

  async fetch(request: OutboundRequest): Promise<OutboundAnswer> {
    this.sent.push(request);
    return this.answer;
  }
}
