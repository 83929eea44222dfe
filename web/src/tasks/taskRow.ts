/* A task as a list of the console shows it. */

export const taskStatuses = [
  'NOT_STARTED',
  'SUBMITTED',
  'QUEUED',
  'MODAL',
  'IN_PROGRESS',
  'SUCCEEDED',
  'FAILED',
  'UNKNOWN',
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** What it has made. */
export interface TaskMedia {
  readonly kind: 'PICTURE' | 'AUDIO' | 'VIDEO';
  /** Of this gateway, with a signature where one is needed; else of upstream. */
  readonly url: string;
}

export interface TaskRow {
  readonly id: string;
  /** By which its caller names it. */
  readonly publicId: string;
  readonly platform: 'MIDJOURNEY' | 'SUNO' | 'VIDEO';
  readonly action: string;
  /** By which upstream said that it has taken it; null: not said. */
  readonly code: number | null;
  readonly status: TaskStatus;
  /** Percent. */
  readonly progress: number;
  /** null: it has not failed. */
  readonly reason: 'UPSTREAM' | 'TIMED_OUT' | 'CHANNEL_GONE' | 'REJECTED' | 'CANCELLED' | null;
  /** Unix seconds. */
  readonly submittedAt: number;
  readonly finishedAt: number | null;
  readonly model: string;
  readonly refunded: boolean;
  readonly prompt: string;
  readonly promptEn: string;
  /** Upstream's own words for why it failed. */
  readonly failReason: string;
  readonly media: readonly TaskMedia[];
  /** For administrators. */
  readonly channelId?: string | null;
  readonly channelName?: string | null;
  readonly userId?: string | null;
  readonly username?: string | null;
}
