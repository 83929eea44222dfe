import type { UpstreamChannel, UpstreamRequest } from './protocol.js';

/* How a provider gives out the files of a video that it has made. */

export const videoVariants = ['video', 'thumbnail', 'spritesheet'] as const;
export type VideoVariant = (typeof videoVariants)[number];

/** What is known of a video that is ready. */
interface MadeVideo {
  readonly upstreamId: string;
  readonly model: string;
  /** That upstream has named with it. */
  readonly urls: readonly string[];
  /** From 0, where several were ordered. */
  readonly index: number;
}

export interface VideoFile {
  /** Its media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

export interface VideoSource {
  readonly request: UpstreamRequest;
  /** The file stands in a JSON answer; null: it does not. Left out: the answer is the file. */
  readonly inside?: (answer: Buffer, index: number) => VideoFile | null;
}

export interface VideoFiles {
  /** null: there is no such file. Throws NotConvertible. */
  source(channel: UpstreamChannel, video: MadeVideo, variant: VideoVariant): VideoSource | null;
  /** Left out: nothing can be deleted there, and files end by themselves. */
  remove?(channel: UpstreamChannel, upstreamId: string): UpstreamRequest;
}
