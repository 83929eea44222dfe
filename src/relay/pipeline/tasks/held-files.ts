import { LRUCache } from 'lru-cache';
import type { VideoFile } from '../../contracts/video-files.js';

/*
 * Files that are part of an upstream's answer. A player asks for one range after the other, while the upstream gives out
 * the whole answer each time: it is asked once, and the file is held for a few minutes.
 */

const heldMs = 5 * 60_000;

export class HeldFiles {
  private readonly files: LRUCache<string, VideoFile, () => Promise<VideoFile>>;

  /** `maxBytes`: of all files together. A longer one is passed on and not held. */
  constructor(maxBytes: number) {
    this.files = new LRUCache<string, VideoFile, () => Promise<VideoFile>>({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => Math.max(bytes.length, 1),
      ttl: heldMs,
      ttlAutopurge: true,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context }) => context(),
    });
  }

  /** Who asks for the same file meanwhile shares the request. Rejects as `fetched` does; a failure is not held. */
  async file(key: string, fetched: () => Promise<VideoFile>): Promise<VideoFile> {
    const held = await this.files.fetch(key, { context: fetched });
    if (held === undefined) throw new Error('a file was fetched and is missing');
    return held;
  }
}
