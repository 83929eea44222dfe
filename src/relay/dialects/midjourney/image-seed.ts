import type { TaskView } from '../../../application/ports/task-ports.js';
import { fromUpstream } from '../../contracts/errors.js';
import { type JsonObject, parseJson } from '../../json/json.js';
import type { TaskReply } from '../../pipeline/tasks/task-question.js';
import { confidentialOf } from '../../protocols/confidential-of.js';
import { refusedBody, submitAnswerIn } from '../../protocols/midjourney/submit-answer.js';
import { errorOfStatus, unreadableAnswer } from '../../upstream/upstream-error.js';

/* The seed of a drawing, which its proxy alone knows. */

export const seedPath = ({ facts: { upstreamId } }: TaskView): string =>
  `/mj/task/${encodeURIComponent(upstreamId)}/image-seed`;

/** Throws RelayError. */
export function imageSeedIn({ status, body, keeper: { provider, channel } }: TaskReply): JsonObject {
  const confidential = confidentialOf(provider, channel);
  const answer = submitAnswerIn(parseJson(body.toString('utf8')));
  // As of a submission: what the proxy answers is passed on, with what is confidential left out.
  if (answer !== null) return refusedBody(answer, confidential);
  throw status >= 400
    ? fromUpstream(errorOfStatus(status, body, confidential), status)
    : fromUpstream(unreadableAnswer('the upstream answered something that is no seed'), 502);
}
