import type { Settings } from '../../../application/options/settings.js';
import type { TaskView } from '../../../application/ports/task-ports.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import type { NamedTask } from '../../contracts/task-asked.js';
import { type JsonObject, textIn } from '../../json/json.js';
import { modelOfAction } from '../../protocols/midjourney/actions.js';
import {
  isWrong,
  readSubmission,
  type Submission,
  type SubmitKind,
  type WrongMember,
} from '../../protocols/midjourney/submission.js';
import { pricedPerTask } from '../task-dialect.js';
import { midjourneyCaller } from './dialect.js';

/* What a Midjourney proxy is asked for: what is answered is the id of a task. */

const refusal = ({ word, param, message }: WrongMember): RelayError =>
  new RelayError(400, word, message, { type: 'invalid_request_error', param });

/** Throws RelayError. */
function submission(kind: SubmitKind, body: JsonObject): Submission {
  const read = readSubmission(kind, body);
  if (isWrong(read)) throw refusal(read);
  return read;
}

/** The member that names the task to go on from. */
const parentMember = (kind: SubmitKind): string => (kind === 'simple-change' ? 'content' : 'taskId');

function parentIn(kind: SubmitKind, body: JsonObject): NamedTask | null {
  const { parentId } = submission(kind, body);
  return parentId === null ? null : { id: parentId, param: parentMember(kind) };
}

/** A dialog is closed by what is asked for then, so its task is at no end yet. */
const unfinished = (kind: SubmitKind, { status }: TaskView, { midjourney }: Settings): RelayError | null =>
  kind === 'modal' || status === 'succeeded' || !midjourney.checksParent
    ? null
    : refusal({ word: 'task_status_not_success', param: parentMember(kind), message: '' });

export const submitPath = (kind: SubmitKind): string =>
  kind === 'swap' ? '/mj/insight-face/swap' : `/mj/submit/${kind}`;

/** `mode`: the speed that stands before the path, such as `/mj-fast`; '': none. */
export const midjourneySubmit = (kind: SubmitKind, mode: string): Endpoint => ({
  ...pricedPerTask,
  path: submitPath(kind),
  below: mode + submitPath(kind),
  dialect: midjourneyCaller,
  invalid(body) {
    const read = readSubmission(kind, body);
    return isWrong(read) ? { code: read.word, message: read.message, param: read.param } : null;
  },
  promptTexts: ({ prompt }) => [textIn(prompt) ?? ''],
  modelOf: (body) => modelOfAction(submission(kind, body).action),
  task: {
    platform: 'midjourney',
    action: (body) => submission(kind, body).action,
    parent: (body) => parentIn(kind, body),
    notFrom: (parent, _body, settings) => unfinished(kind, parent, settings),
    asksOnce: true,
  },
});
