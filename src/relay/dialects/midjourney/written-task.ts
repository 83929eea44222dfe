import type { Settings } from '../../../application/options/settings.js';
import type { Vault } from '../../../application/ports/storage-ports.js';
import type { TaskView } from '../../../application/ports/task-ports.js';
import type { TaskStatus } from '../../../domain/task/task.js';
import { picturePath } from '../../../http/task-addresses.js';
import type { JsonObject } from '../../json/json.js';
import { storedResult } from '../../protocols/midjourney/task-object.js';
import { failureWords } from '../task-words.js';

/* A task as clients of a Midjourney proxy read it. */

const statuses: Readonly<Record<TaskStatus, string>> = {
  'not-started': 'NOT_START',
  submitted: 'SUBMITTED',
  queued: 'SUBMITTED',
  modal: 'MODAL',
  'in-progress': 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
  unknown: 'SUBMITTED',
};

interface WritingPorts {
  readonly vault: Pick<Vault, 'hash'>;
  readonly settings: Pick<Settings, 'midjourney' | 'siteAddress'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** From here, where the operator wants that and has named the site; an unfinished picture has another address each time. */
function shownPicture({ vault, settings, now }: WritingPorts, { facts, status }: TaskView, url: string): string {
  const { siteAddress, midjourney } = settings;
  if (url === '' || !midjourney.forwardsPictures || siteAddress === '') return url;
  const address = siteAddress + picturePath(vault, facts.taskId);
  return status === 'succeeded' ? address : `${address}?rand=${now}000000`;
}

export function writtenTask(ports: WritingPorts, task: TaskView): JsonObject {
  const { facts, status, progress, submittedAt, startedAt, finishedAt, content } = task;
  const { imageUrl, videoUrls, customId, botType, buttons, properties } = storedResult(content?.result ?? null);
  const [videoUrl] = videoUrls;
  return {
    id: facts.publicId,
    action: facts.action,
    ...{ customId, botType },
    prompt: content?.prompt ?? '',
    promptEn: content?.promptEn ?? '',
    description: content?.description ?? '',
    state: content?.state ?? '',
    submitTime: submittedAt,
    startTime: startedAt ?? 0,
    finishTime: finishedAt ?? 0,
    imageUrl: shownPicture(ports, task, imageUrl),
    ...(videoUrl !== undefined && { videoUrl, videoUrls: videoUrls.map((url) => ({ url })) }),
    status: statuses[status],
    // Whatever has ended is at its end.
    progress: status === 'succeeded' || status === 'failed' ? '100%' : `${progress}%`,
    failReason: failureWords(task),
    buttons: [...buttons],
    maskBase64: '',
    properties: { finalPrompt: '', finalZhPrompt: '', ...properties },
  };
}
