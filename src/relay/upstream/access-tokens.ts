import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../application/ports/storage-ports.js';
import { growingLru } from '../../data-structures/growing-lru.js';
import type { NotAuthorised } from '../contracts/authorisation.js';

/*
 * Tokens that providers grant for a while. Each is fetched once for all who need it, and used till shortly before it ends;
 * a refusal goes to those who waited for it, and is not remembered.
 */

export type Granted =
  /** `lifeMs`: from when it was asked for. */
  { readonly ok: true; readonly token: string; readonly lifeMs: number } | NotAuthorised;

interface Kept {
  readonly granted: Promise<Granted>;
  /** null: it is on its way. */
  token: string | null;
  /** Milliseconds since 1970; before `askedAt` the clock has been set back, and nobody knows how old the token is. */
  readonly askedAt: number;
  until: number;
}

const usualMarginMs = 5 * 60_000;
/** Credentials; one channel has one. */
const defaultMax = 1000;

/** A short life is half used. */
const usedMs = (lifeMs: number): number => lifeMs - Math.min(usualMarginMs, lifeMs / 2);

export class AccessTokens {
  private readonly kept: LRUCache<string, Kept>;

  constructor(
    private readonly clock: Clock,
    max = defaultMax,
  ) {
    this.kept = growingLru(max);
  }

  /** `credentials`: all that the token depends on, the way to it included. What `fetch` throws is thrown to all. */
  of(credentials: string, fetch: () => Promise<Granted>): Promise<Granted> {
    const known = this.kept.get(credentials);
    const askedAt = this.clock.now();
    const isGood = (kept: Kept): boolean => kept.askedAt <= askedAt && askedAt < kept.until;
    if (known !== undefined && (known.token === null || isGood(known))) return known.granted;
    this.kept.delete(credentials);
    const fresh: Kept = { granted: fetch(), token: null, askedAt, until: 0 };
    this.kept.set(credentials, fresh);
    fresh.granted.then(
      (granted) => {
        if (granted.ok) {
          fresh.token = granted.token;
          fresh.until = askedAt + usedMs(granted.lifeMs);
        } else this.drop(credentials, fresh);
      },
      () => this.drop(credentials, fresh),
    );
    return fresh.granted;
  }

  /** The token was not taken. One that has been fetched since stays. */
  forget(credentials: string, token: string): void {
    const known = this.kept.get(credentials);
    if (known?.token === token) this.kept.delete(credentials);
  }

  private drop(credentials: string, failed: Kept): void {
    if (this.kept.peek(credentials) === failed) this.kept.delete(credentials);
  }
}
