import type { TaskContent } from '../../../application/ports/task-ports.js';
import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import type { AcceptedTask, SubmitWire } from '../../contracts/task-wire.js';
import { isObject, type JsonObject, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { confidentialOf } from '../confidential-of.js';
import { plainWords } from '../confidential-task.js';
import { baseOf, noThinking, written } from '../request-builder.js';
import { notTaken, taken, unclear } from '../task-answer.js';
import { opensDialog } from './actions.js';
import {
  isTaken,
  refusedBody,
  type SubmitAnswer,
  shownCode,
  submitAnswerIn,
  submitCodes,
  taskIdIn,
  uploadedIn,
} from './submit-answer.js';
import { submittedBody, withoutMode } from './submit-request.js';
import { resultIn, statusIn } from './task-object.js';

/* How a Midjourney proxy is asked to draw, and what it says to that. */

/** Milliseconds that a proxy has to answer a submission. */
const patienceMs = 60_000;

type Asked = Pick<AnswerInput, 'caller' | 'info' | 'provider' | 'channel'>;

/** Prompts of what follows up a task are those of that task, unless it has its own. */
function contentOf(
  { caller: { body, task }, provider, channel }: Asked,
  answer: SubmitAnswer,
  uploaded: readonly string[],
): TaskContent {
  const { properties } = answer.body;
  const [first] = uploaded;
  const known = isObject(properties) ? properties : {};
  const result = resultIn(first === undefined ? { imageUrl: known.imageUrl } : { imageUrl: first });
  const urls = uploaded.length > 0 ? uploaded : [result.imageUrl].filter((url) => url !== '');
  const prompt = textIn(body.prompt) ?? task?.parent?.content?.prompt ?? '';
  return {
    prompt,
    state: textIn(body.state) ?? '',
    description: plainWords(answer.description, confidentialOf(provider, channel)),
    result: JSON.stringify(result),
    urls,
  };
}

/**
 * Of a task that waits in a queue, or is there already and may have come further. How it has ended is asked of the task
 * itself. What opens a dialog waits for its caller next.
 */
function statusOf({ code, body: { properties } }: SubmitAnswer, action: string): AcceptedTask['status'] {
  if (code === submitCodes.queued && !opensDialog(action)) return 'queued';
  const said = code === submitCodes.exists && isObject(properties) ? statusIn(properties) : 'unknown';
  return said === 'unknown' || said === 'succeeded' || said === 'failed' ? 'submitted' : said;
}

/** null: it names nothing that can be asked for later. */
function acceptedTask(asked: Asked, action: string, answer: SubmitAnswer): AcceptedTask | null {
  if (action === 'UPLOAD') {
    const uploaded = uploadedIn(answer);
    // Its pictures are all there is of it: it is at its end, and goes by a name of ours.
    const upstreamId = `upload-${asked.info.callId}`;
    const content = contentOf(asked, answer, uploaded);
    return uploaded.length === 0 ? null : { action, upstreamId, status: 'succeeded', progress: 100, content };
  }
  const upstreamId = taskIdIn(answer);
  if (upstreamId === null) return null;
  return { action, upstreamId, status: statusOf(answer, action), progress: 0, content: contentOf(asked, answer, []) };
}

/** The proxy's own refusal, which its caller gets as it is. */
function refusal({ provider, channel, status, body }: AnswerInput, answer: SubmitAnswer): Answer {
  const confidential = confidentialOf(provider, channel);
  const refused = notTaken(status < 400 ? 400 : status, body, confidential);
  if (refused.ok) return refused;
  const { code } = answer;
  const passedOn: JsonObject = refusedBody(answer, confidential);
  const error = { ...refused.error, code: String(code), message: String(passedOn.description), passedOn };
  return { ok: false, error: { ...error, ...(code === submitCodes.noAccount && { outOfOrder: true }) } };
}

function answerOf(received: AnswerInput): Answer {
  const { caller, status, body, provider, channel } = received;
  const answer = submitAnswerIn(upstreamJson(body));
  if (answer === null)
    return status >= 400 && status < 500 ? notTaken(status, body, confidentialOf(provider, channel)) : unclear(status);
  const action = caller.task?.action ?? '';
  if (status >= 400 || !isTaken(answer, action)) return refusal(received, answer);
  const task = acceptedTask(received, action, answer);
  const code = shownCode(answer, action);
  return task === null ? unclear(status) : taken(body, { ...answer.body, code }, task, code !== answer.code);
}

/** `hasModes`: the speed may stand before the path. */
export const submitToProxy = ({ hasModes }: { readonly hasModes: boolean }): SubmitWire => ({
  request({ provider, channel, caller, model, options }) {
    const path = caller.below ?? '';
    const keepsMode = hasModes && !options.midjourney.clearsModes;
    return {
      method: 'POST',
      url: baseOf(provider, channel) + (keepsMode ? path : withoutMode(path)),
      headers: { 'mj-api-secret': channel.key.trim(), 'content-type': 'application/json' },
      content: { kind: 'json', text: written(submittedBody(caller.body, options)) },
      timeoutMs: patienceMs,
      model,
      ...noThinking,
    };
  },
  answer: answerOf,
});
