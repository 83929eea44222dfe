import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { ArchiveFiles } from '../../application/ports/archive-ports.js';

/** Of one line. An event has a megabyte at most. */
const maxLine = 64 * 1024 * 1024;

async function* asText(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string, void, undefined> {
  for await (const page of pages) if (page.length > 0) yield `${page.join('\n')}\n`;
}

async function toDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Lines in pieces as they come out of the file, none of them empty. Throws where its bytes are not compressed text. */
export async function* linesOfFile(path: string): AsyncGenerator<readonly string[], void, undefined> {
  const file = createReadStream(path);
  const text = createGunzip();
  file.on('error', (error) => text.destroy(error));
  file.pipe(text).setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLine) throw new Error(`a line of ${path} is too long`);
      if (lines.length > 0) yield lines;
    }
    if (rest !== '') yield [rest];
  } finally {
    file.destroy();
    text.destroy();
  }
}

/** null: there is no such file. */
export async function digestOfFile(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}

export const archiveFiles: ArchiveFiles = {
  async write(path, pages) {
    // What is left of a run that was interrupted is never taken for the archive.
    const unfinished = `${path}.part`;
    await rm(unfinished, { force: true });
    const file = createWriteStream(unfinished, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(asText(pages), { objectMode: false }), createGzip(), file);
    await toDisk(unfinished);
    // In the place of nothing: it fails where there is a file.
    await link(unfinished, path);
    await rm(unfinished);
    await toDisk(dirname(resolve(path)));
  },
  lines: linesOfFile,
  digest: digestOfFile,
  resolved: (path) => resolve(path),
};
