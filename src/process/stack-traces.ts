import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Traces that name our sources. Node has a switch for that, which reads every map at every start: half a second. Here a
 * map is read when a trace first has to name what is in its file, once.
 */

const ours = new URL('.', import.meta.url).href;
const maps = new Map<string, SourceMap | null>();

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) return known;
  let map: SourceMap | null = null;
  try {
    map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')));
  } catch {
    // A trace without sources is better than none.
  }
  maps.set(file, map);
  return map;
}

/** `at settle (file:///…/dist/chunk.js:10:3)` as `at settle (/…/src/relay/metering/metered.ts:80:5)`, where it is known. */
function named(frame: NodeJS.CallSite): string {
  const text = frame.toString();
  const file = frame.getFileName();
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  if (!file?.startsWith(ours) || line === null || column === null) return text;
  const origin = mapOf(file)?.findEntry(line - 1, column - 1);
  if (origin === undefined || !('originalSource' in origin)) return text;
  // Where nothing is known of a place, the source is missing in spite of its type.
  const { originalSource } = origin as { readonly originalSource?: string };
  if (originalSource === undefined || originalSource.includes('/node_modules/')) return text;
  const source = join(dirname(fileURLToPath(file)), originalSource);
  return text.replace(`${file}:${line}:${column}`, `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}`);
}

/** To be called first in every thread and process; where the sources themselves run there is nothing to do. */
export function nameSources(): void {
  if (import.meta.url.endsWith('.ts')) return;
  Error.prepareStackTrace = (error, frames) =>
    [String(error), ...frames.map((frame) => `    at ${named(frame)}`)].join('\n');
}
