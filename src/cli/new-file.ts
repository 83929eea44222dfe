import { createWriteStream, type WriteStream } from 'node:fs';
import { UsageError } from './command.js';

/* A file that a command writes. */

/** It must not be there yet, and nobody else may read it. */
export const newFile = (path: string): WriteStream => createWriteStream(path, { flags: 'wx', mode: 0o600 });

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file of that name already',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'that is a folder',
  EACCES: 'it may not be written',
};

/** Throws UsageError where the path itself is to blame. */
export const unlessUnwritable = (option: string, path: string) => (error: Error & { readonly code?: string }) => {
  const reason = reasons[error.code ?? ''];
  throw reason === undefined ? error : new UsageError(`--${option} ${path}: ${reason}.`);
};
