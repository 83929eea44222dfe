import { setTimeout as pause } from 'node:timers/promises';
import { storedResponseTime } from '../../domain/call/stored-response.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { Settings } from '../options/settings.js';
import type { Clock } from '../ports/storage-ports.js';
import type {
  StoredResponse,
  StoredResponseRows,
  StoredResponses,
  StoredResponsesOfUser,
  StoredShare,
} from '../ports/stored-response-ports.js';

/* Writes stored responses behind the calls that made them, and finds those that are not written yet. */

/** Packed, of one response. */
const maxResponseBytes = 8 * 1024 * 1024;
const share: StoredShare = { responses: 1_000, bytes: 64 * 1024 * 1024 };
/** Not written yet, of all users and of one. */
const maxPendingBytes = 64 * 1024 * 1024;
const maxPendingOfUser = maxPendingBytes / 4;
const batchBytes = 4 * 1024 * 1024;
const batchResponses = 64;
/** How often a batch is tried, and the rest between two tries. */
const tries = 5;
const retryMs = 1_000;
/** A process that ends waits no longer for what is not written. */
const flushMs = 5_000;
const dayMs = 86_400_000;
/** What was removed before it was written is kept out so long: calls end and batches are written within it. */
const keptOutMs = 3_600_000;
const mebibyte = 1024 * 1024;
/** Of the most that is stored, what this node may add before it looks whether that is reached. */
const addedBeforePurge = 0.02;

type StoringSettings = Pick<Settings, 'storesResponses' | 'storedResponseDays' | 'storedResponseMegabytes'>;

interface StoringPorts {
  readonly rows: StoredResponseRows;
  readonly settings: () => StoringSettings;
  readonly clock: Clock;
  readonly warn: (facts: Record<string, unknown>, message: string) => void;
}

export class QueuedStoredResponses implements StoredResponses, StoredResponsesOfUser {
  /** In the order in which they came; those being written are among them. */
  private readonly pending = new Map<string, StoredResponse>();
  private readonly pendingOfUsers = new Map<UserId, number>();
  /** Room for those whose calls are under way, which counts as if they were pending. */
  private readonly reserved = new Map<string, { readonly userId: UserId; readonly bytes: number }>();
  private pendingBytes = 0;
  private writing: Promise<void> | null = null;
  /** Being written just now. */
  private batch: readonly StoredResponse[] = [];
  /** Resolves when that is in the table, or given up; never rejects. */
  private batchWritten: Promise<void> = Promise.resolve();
  private lost = 0;
  private addedBytes = 0;
  private stopped = false;

  constructor(private readonly ports: StoringPorts) {}

  reserve(userId: UserId, id: string, bytes: number): (() => void) | null {
    if (this.stopped || !this.hasRoom(userId, bytes) || this.reserved.has(id)) return null;
    this.reserved.set(id, { userId, bytes });
    this.addPending(userId, bytes);
    return () => void this.release(id);
  }

  shrink(id: string, bytes: number): void {
    const room = this.reserved.get(id);
    if (room === undefined || bytes >= room.bytes) return;
    this.reserved.set(id, { ...room, bytes });
    this.addPending(room.userId, bytes - room.bytes);
  }

  put(response: StoredResponse): void {
    if (!this.ports.settings().storesResponses) return;
    const { id, userId, content } = response;
    const { length } = content;
    const wasReserved = this.release(id);
    const full = !wasReserved && !this.hasRoom(userId, length);
    if (full || length > maxResponseBytes || this.stopped) {
      this.lost++;
      if (this.lost === 1) this.ports.warn({ userId, bytes: length }, 'a response cannot be stored: there is no room');
      return;
    }
    if (this.pending.has(id)) return;
    this.pending.set(id, response);
    this.addPending(userId, length);
    this.writing ??= this.write();
  }

  async find(user: UserId, id: string): Promise<Buffer | null> {
    const { rows, settings, clock, warn } = this.ports;
    const { storesResponses, storedResponseDays } = settings();
    if (!storesResponses) return null;
    const pending = this.pending.get(id);
    if (pending !== undefined) return pending.userId === user ? pending.content : null;
    const since = sinceOf(clock, storedResponseDays);
    const content = await rows.get(user, id, since);
    if (content !== 'unreadable') return content;
    warn({ userId: user, responseId: id }, 'a stored response cannot be opened: it was sealed with another key');
    return null;
  }

  async remove(user: UserId, id: string): Promise<boolean> {
    const pending = this.pending.get(id);
    const wasPending = this.forget(user, id);
    // What is being written just now is in the table afterwards. What is not is never written.
    if (wasPending && pending !== undefined && this.batch.includes(pending)) await this.batchWritten;
    const { rows, clock } = this.ports;
    if ((await rows.remove(user, id)) || wasPending) return true;
    // Another process may have it still to write.
    const madeAt = storedResponseTime(id);
    const now = clock.now();
    return madeAt !== null && Math.abs(now - madeAt) < keptOutMs && rows.keepOut(user, id, now);
  }

  async removeAll(user: UserId): Promise<number> {
    const pending = [...this.pending.values()].filter(({ userId }) => userId === user);
    const unwritten = pending.filter((response) => !this.batch.includes(response)).length;
    for (const { id } of pending) this.forget(user, id);
    if (pending.length > unwritten) await this.batchWritten;
    return (await this.ports.rows.removeAll(user, this.ports.clock.now())) + unwritten;
  }

  async count(user: UserId): Promise<number> {
    const { rows, settings, clock } = this.ports;
    const { storesResponses, storedResponseDays } = settings();
    return storesResponses ? rows.count(user, sinceOf(clock, storedResponseDays)) : 0;
  }

  /** Removes what is too old or too much; all of it, where nothing is to be stored. */
  async purge(): Promise<number> {
    const { rows, settings, clock } = this.ports;
    const { storesResponses, storedResponseDays, storedResponseMegabytes } = settings();
    const before = storesResponses ? sinceOf(clock, storedResponseDays) : Instant(Number.MAX_SAFE_INTEGER);
    this.addedBytes = 0;
    const { removed } = await rows.purge(
      before,
      storedResponseMegabytes * mebibyte,
      Instant(Math.max(0, clock.now() - keptOutMs)),
    );
    return removed;
  }

  /** Nothing more is taken. Resolves when all is written, or given up. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.writing !== null) await Promise.race([this.writing, pause(flushMs, undefined, { ref: false })]);
  }

  /** False: it is not pending, or another user's. */
  private forget(user: UserId, id: string): boolean {
    const response = this.pending.get(id);
    if (response === undefined || response.userId !== user) return false;
    this.pending.delete(id);
    this.addPending(user, -response.content.length);
    return true;
  }

  /** False: nothing is reserved for it, or no more. */
  private release(id: string): boolean {
    const room = this.reserved.get(id);
    if (room === undefined) return false;
    this.reserved.delete(id);
    this.addPending(room.userId, -room.bytes);
    return true;
  }

  private hasRoom(user: UserId, bytes: number): boolean {
    const ofUser = this.pendingOfUsers.get(user) ?? 0;
    return this.pendingBytes + bytes <= maxPendingBytes && ofUser + bytes <= maxPendingOfUser;
  }

  private addPending(user: UserId, bytes: number): void {
    this.pendingBytes += bytes;
    const ofUser = (this.pendingOfUsers.get(user) ?? 0) + bytes;
    if (ofUser > 0) this.pendingOfUsers.set(user, ofUser);
    else this.pendingOfUsers.delete(user);
  }

  private async write(): Promise<void> {
    // What comes in the same moment goes in one batch.
    await new Promise(setImmediate);
    while (this.pending.size > 0) {
      const batch = this.nextBatch();
      this.batch = batch;
      this.batchWritten = this.writeBatch(batch);
      await this.batchWritten;
      for (const { userId, id } of batch) this.forget(userId, id);
      this.batch = [];
      await this.purgeIfMuchAdded();
    }
    this.writing = null;
    if (this.lost > 1) this.ports.warn({ lost: this.lost }, 'responses were not stored: there was no room');
    this.lost = 0;
  }

  private nextBatch(): readonly StoredResponse[] {
    const batch: StoredResponse[] = [];
    let bytes = 0;
    for (const response of this.pending.values()) {
      bytes += response.content.length;
      if (batch.length > 0 && (bytes > batchBytes || batch.length === batchResponses)) break;
      batch.push(response);
    }
    return batch;
  }

  /** Never rejects. */
  private async writeBatch(batch: readonly StoredResponse[]): Promise<void> {
    const { rows, warn } = this.ports;
    for (let attempt = 1; ; attempt++) {
      // Some of it may have been deleted meanwhile.
      const left = batch.filter(({ id }) => this.pending.has(id));
      try {
        if (left.length > 0) await rows.add(left, share);
        break;
      } catch (error) {
        if (attempt === tries || this.stopped) {
          warn({ responses: left.length, reason: String(error) }, 'responses cannot be stored and are given up');
          return;
        }
        await pause(retryMs, undefined, { ref: false });
      }
    }
    for (const { content } of batch) this.addedBytes += content.length;
  }

  /** Never rejects. */
  private async purgeIfMuchAdded(): Promise<void> {
    const { warn, settings } = this.ports;
    if (this.addedBytes < settings().storedResponseMegabytes * mebibyte * addedBeforePurge) return;
    await this.purge().catch((error: unknown) =>
      warn({ reason: String(error) }, 'old responses cannot be removed now'),
    );
  }
}

const sinceOf = (clock: Clock, days: number): Instant => Instant(Math.max(0, clock.now() - days * dayMs));
