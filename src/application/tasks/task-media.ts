import { urlIn } from '../../domain/kernel/address.js';
import type { TaskPlatform } from '../../domain/task/task.js';
import type { TaskView } from '../ports/task-ports.js';

/* What a task has made, for pages that show it. */

export type TaskMediaKind = 'picture' | 'audio' | 'video';

export interface TaskMedia {
  readonly kind: TaskMediaKind;
  readonly url: string;
}

interface MadeBy {
  readonly platform: TaskPlatform;
  /** As upstream has returned them. */
  readonly urls: readonly string[];
  /** Where this gateway passes on the picture of a drawing, which is its first address; null: it does not. */
  readonly ownPicture: string | null;
  /** Where this gateway passes on the files of a video that is ready; null: it does not. */
  readonly ownVideo: string | null;
}

const endings: Readonly<Record<string, TaskMediaKind>> = {
  ...{ png: 'picture', jpg: 'picture', jpeg: 'picture', webp: 'picture', gif: 'picture', avif: 'picture' },
  ...{ mp3: 'audio', m4a: 'audio', wav: 'audio', ogg: 'audio', flac: 'audio', opus: 'audio' },
  ...{ mp4: 'video', webm: 'video', mov: 'video', m4v: 'video' },
};

type AtAddresses = Exclude<TaskPlatform, 'video'>;

const usual = { midjourney: 'picture', suno: 'audio' } as const satisfies Record<AtAddresses, TaskMediaKind>;

/** By the ending of its path; without a known one, what its platform makes. null: no browser is led there. */
function kindOf(platform: AtAddresses, text: string): TaskMediaKind | null {
  const url = urlIn(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const ending = /\.(\w{2,4})$/.exec(url.pathname)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(endings, ending) ? (endings[ending] ?? null) : usual[platform];
}

/** By their index: many an upstream names no address, or one that needs its key. */
const ownVideos = (path: string, count: number): readonly TaskMedia[] =>
  Array.from({ length: Math.max(count, 1) }, (_, index) => ({
    kind: 'video',
    url: index === 0 ? path : `${path}?index=${index}`,
  }));

/** In the order of their addresses, each once. */
export function taskMedia({ platform, urls, ownPicture, ownVideo }: MadeBy): readonly TaskMedia[] {
  if (platform === 'video') return ownVideo === null ? [] : ownVideos(ownVideo, urls.length);
  return [...new Set(urls)].flatMap((url, index) => {
    const kind = kindOf(platform, url);
    if (kind === null) return [];
    const isPassedOn = ownPicture !== null && platform === 'midjourney' && kind === 'picture' && index === 0;
    return [{ kind, url: isPassedOn ? ownPicture : url }];
  });
}

/** Of Midjourney proxies, as clients of theirs know them; null: a task of another platform. */
export const submitCodeOf = ({ facts, status }: Pick<TaskView, 'facts' | 'status'>): number | null =>
  facts.platform === 'midjourney' ? (status === 'modal' ? 21 : 1) : null;
