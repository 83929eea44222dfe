import { TaskId } from '../../../domain/kernel/ids.js';
import { isTerminal } from '../../../domain/task/task.js';
import { pictureTask } from '../../../http/task-addresses.js';
import { RelayError } from '../../contracts/errors.js';
import type { CallerConnection } from '../../delivery/caller-connection.js';
import { type FileFailure, type FileRules, passFile } from '../../delivery/pass-file.js';
import type { StagePorts } from '../stage-ports.js';

/*
 * The picture of a task, for pages that show it: they send no key, so its address carries a signature. What is fetched is
 * an address that the task's upstream has returned, and nothing else.
 */

/** Pictures of dots: one that is a document may hold scripts. */
const types = /^image\/(?!svg)[\w.+-]{1,64}$/;

const maxBytes = 32 * 1024 * 1024;

const rules: Omit<FileRules, 'headers'> = {
  types,
  usualType: 'image/jpeg',
  maxBytes,
  timeoutMs: 120_000,
  idleMs: 15_000,
};

/** Whatever it is, browsers take it for nothing but a picture. */
const headersOf = (isFinal: boolean): readonly string[] =>
  Object.entries({
    'cache-control': isFinal ? 'private, max-age=86400' : 'no-store',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': 'inline',
  }).flat();

const notFound = (): RelayError =>
  new RelayError(400, 'midjourney_task_not_found', 'midjourney_task_not_found', { type: 'invalid_request_error' });

function failureOf({ reason, status }: FileFailure): RelayError {
  const refused = reason === 'refused' && status !== null && status >= 400 && status <= 599;
  return refused
    ? new RelayError(status, 'http_get_image_failed', `the picture cannot be had: status code ${status}`)
    : new RelayError(500, 'http_get_image_failed', 'http_get_image_failed');
}

type PicturePorts = Pick<StagePorts, 'vault' | 'tasks' | 'files' | 'stalledCallers'>;

export interface PictureRequest {
  /** The last part of its address. */
  readonly name: string;
  readonly headOnly: boolean;
}

/** Throws RelayError, where nothing is sent yet. */
export async function servePicture(
  ports: PicturePorts,
  connection: CallerConnection,
  { name, headOnly }: PictureRequest,
): Promise<void> {
  const id = pictureTask(ports.vault, name);
  const task = id === null ? null : ((await ports.tasks?.byId(TaskId(id))) ?? null);
  const [url] = task?.content?.urls ?? [];
  if (task === null || task.facts.platform !== 'midjourney' || url === undefined) throw notFound();
  const headers = headersOf(isTerminal(task.status));
  const failure = await passFile(ports, connection, { url, payer: task.facts.userId, headOnly }, { ...rules, headers });
  if (failure !== null) throw failureOf(failure);
}
