import { bytesIn } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import type { PersonalData } from '../ports/storage-ports.js';
import type { TaskContent } from '../ports/task-ports.js';

/* What a task says and shows: bounded, and sealed with the key of its user. */

/** All of it, in UTF-8. */
const maxBytes = 64 * 1024;
const maxTexts = {
  prompt: 8 * 1024,
  promptEn: 8 * 1024,
  description: 8 * 1024,
  state: 512,
  failReason: 2 * 1024,
} as const satisfies Partial<Record<keyof TaskContent, number>>;
const textNames = Object.keys(maxTexts) as (keyof typeof maxTexts)[];
const maxUrls = 64;
const maxUrlBytes = 4 * 1024;
const maxUrlsBytes = 16 * 1024;

/** The beginning of a text, without half of a character at its end. */
function cut(text: string, max: number): string {
  if (bytesIn(text) <= max) return text;
  const bytes = Buffer.from(text.slice(0, max)).subarray(0, max);
  return bytes.toString('utf8').replace(/\uFFFD+$/, '');
}

/** An address that is cut leads nowhere: it is left out. */
function boundedUrls(urls: readonly string[]): string[] {
  let left = maxUrlsBytes;
  return [...new Set(urls)].slice(0, maxUrls).filter((url) => {
    const size = bytesIn(url);
    if (size > maxUrlBytes || size > left) return false;
    left -= size;
    return true;
  });
}

export function boundedContent(content: TaskContent): TaskContent {
  const texts: { -readonly [Name in keyof TaskContent]?: string } = {};
  for (const name of textNames) {
    const text = content[name];
    if (text !== undefined) texts[name] = cut(text, maxTexts[name]);
  }
  const bounded: TaskContent = { ...(texts as Omit<TaskContent, 'urls'>), urls: boundedUrls(content.urls) };
  const { result } = content;
  if (result === undefined) return bounded;
  const whole = { ...bounded, result };
  return bytesIn(JSON.stringify(whole)) <= maxBytes ? whole : bounded;
}

/** As it is after more has become known: what is left out stays. */
export function mergedContent(before: TaskContent | null, seen: TaskContent): TaskContent {
  const known = Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== undefined && value !== ''));
  const merged = { urls: [], ...before, ...known } as TaskContent;
  return boundedContent(seen.urls.length === 0 ? { ...merged, urls: before?.urls ?? [] } : merged);
}

/** null: its user has been deleted, so nobody is left to read it. */
export const sealContent = (
  personal: Pick<PersonalData, 'seal'>,
  user: UserId,
  content: TaskContent,
): Promise<Sealed | null> =>
  personal.seal(user, JSON.stringify(content)).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'user-not-found') return null;
    throw error;
  });

/** In their order. null: it is not kept, or its user is gone. */
export async function openContents(
  personal: Pick<PersonalData, 'openAll'>,
  kept: readonly { readonly user: UserId; readonly sealed: Sealed | null }[],
): Promise<readonly (TaskContent | null)[]> {
  const texts = kept.flatMap(({ user, sealed }) => (sealed === null ? [] : [{ user, sealed }]));
  const opened = await personal.openAll(texts);
  let next = 0;
  return kept.map(({ sealed }) => {
    const text = sealed === null ? null : (opened[next++] ?? null);
    return text === null ? null : (JSON.parse(text) as TaskContent);
  });
}
