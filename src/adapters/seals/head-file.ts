import { open } from 'node:fs/promises';

/** Longer than any line of a seal. */
const endBytes = 4_096;

/** Adds a line to a file unless it ends with it, and makes the file, for its owner alone, where there is none. */
export async function appendHead(path: string, line: string): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - endBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const end = buffer.toString('utf8', 0, bytesRead);
    if (end.endsWith(`${line}\n`)) return;
    // What a crash has left of a line stays a line of its own.
    await file.appendFile(`${end === '' || end.endsWith('\n') ? '' : '\n'}${line}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
