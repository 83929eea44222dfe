import type { CallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Refusal } from '../../domain/kernel/refusal.js';

/*
 * Refused calls, counted by kind. However many there are, and whatever they ask for, there are no more kinds than have
 * room here: what falls over is counted under a coarser kind of the same user, and at last under what all were
 * answered.
 */

/** Kinds at once, and of them those of one user; callers that nobody knows are one user together. */
const maxKinds = 200;
const maxKindsOfOne = 40;
/** Kinds that contain nothing but status and code. There are no more codes than that, unless something is wrong. */
const maxBare = 50;
/** Of each kind, those that are recorded one by one. */
export const maxRecordedOneByOne = 5;

/** A refusal that is recorded by itself. */
interface RefusedCall {
  readonly callId: CallId;
  readonly at: Instant;
}

/** The refusals of a kind. */
export interface RefusedKind {
  readonly refusal: Refusal;
  /** As many as are recorded one by one, at most. */
  readonly first: RefusedCall[];
  /** How many there were beside them, and the time of the last one; 0 where there was none. */
  more: number;
  last: Instant | 0;
}

/** A kind of nothing but the user and what was answered. */
const bare = (userId: Refusal['userId'], { status, code }: Pick<Refusal, 'status' | 'code'>): Refusal => ({
  userId,
  apiKeyId: null,
  apiKeyName: '',
  group: '',
  model: '',
  path: '',
  status,
  code,
  network: null,
});
const unlike: Refusal = bare(null, { status: 0, code: 'other' });

const keyOf = ({ userId, apiKeyId, network, status, code, path, model }: Refusal): string =>
  `${userId ?? ''} ${apiKeyId ?? ''} ${network ?? ''} ${status} ${code} ${path} ${model}`;

export class RefusalTally {
  private kinds = new Map<string, RefusedKind>();
  private byUser = new Map<Refusal['userId'], number>();

  /** The kind that a refusal counts as. */
  kindOf(refusal: Refusal): RefusedKind {
    return (
      this.known(refusal) ??
      (this.hasRoom(refusal) ? this.begun(refusal) : null) ??
      this.coarser(bare(refusal.userId, refusal), maxKinds) ??
      this.coarser(bare(null, refusal), maxKinds + maxBare) ??
      this.known(unlike) ??
      this.begun(unlike)
    );
  }

  /** `callId` null: it is not recorded by itself. */
  count(refusal: Refusal, callId: CallId | null, at: Instant): void {
    const kind = this.kindOf(refusal);
    if (callId !== null && kind.first.length < maxRecordedOneByOne) kind.first.push({ callId, at });
    else {
      kind.more++;
      kind.last = at;
    }
  }

  /** All of them; it begins anew. */
  take(): readonly RefusedKind[] {
    const taken = [...this.kinds.values()];
    if (taken.length === 0) return taken;
    this.kinds = new Map();
    this.byUser = new Map();
    return taken;
  }

  private known(refusal: Refusal): RefusedKind | null {
    return this.kinds.get(keyOf(refusal)) ?? null;
  }

  private hasRoom({ userId }: Refusal): boolean {
    return this.kinds.size < maxKinds && (this.byUser.get(userId) ?? 0) < maxKindsOfOne;
  }

  private coarser(refusal: Refusal, max: number): RefusedKind | null {
    return this.known(refusal) ?? (this.kinds.size < max ? this.begun(refusal) : null);
  }

  private begun(refusal: Refusal): RefusedKind {
    const kind: RefusedKind = { refusal, first: [], more: 0, last: 0 };
    this.kinds.set(keyOf(refusal), kind);
    this.byUser.set(refusal.userId, (this.byUser.get(refusal.userId) ?? 0) + 1);
    return kind;
  }
}
