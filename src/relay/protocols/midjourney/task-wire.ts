import type { TaskObservation } from '../../../application/ports/task-ports.js';
import type { TaskWire } from '../../contracts/task-wire.js';
import { isList, type JsonObject, objectsIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { noThinking } from '../request-builder.js';
import { plainActions } from './actions.js';
import { submitToProxy } from './submit.js';
import { reportedTask } from './task-object.js';

/* How a Midjourney proxy is asked what has become of tasks. */

const hour = 3_600_000;
const batch = 100;

/** null: the report does not say which task it is about. */
function observationIn(task: JsonObject): TaskObservation | null {
  const reported = reportedTask(task);
  if (reported === null) return null;
  const { upstreamId, status, progress, startedAt, finishedAt, result, ...texts } = reported;
  const urls = [result.imageUrl, ...result.videoUrls].filter((url) => url !== '');
  const content = { ...texts, result: JSON.stringify(result), urls };
  return { upstreamId, status, progress, startedAt, finishedAt, content };
}

interface ProxyFacts {
  readonly defaultBaseUrl: string;
  /** The plain proxy has neither all actions nor speeds. */
  readonly isPlain: boolean;
}

export const midjourneyTasks = ({ defaultBaseUrl, isPlain }: ProxyFacts): TaskWire => ({
  platform: 'midjourney',
  submit: submitToProxy({ hasModes: !isPlain }),
  ...(isPlain && { offers: (action: string) => plainActions.has(action) }),
  limitMs: hour,
  batch,
  poll: ({ baseUrl, key }, tasks) => ({
    method: 'POST',
    url: `${(baseUrl.trim() || defaultBaseUrl).replace(/\/+$/, '')}/mj/task/list-by-condition`,
    headers: { 'mj-api-secret': key.trim(), 'content-type': 'application/json' },
    content: { kind: 'json', text: JSON.stringify({ ids: tasks.map(({ upstreamId }) => upstreamId) }) },
    model: '',
    ...noThinking,
  }),
  report: observationIn,
  read(status, body, asked) {
    const answer = status >= 200 && status <= 299 ? upstreamJson(body) : null;
    if (!isList(answer)) return { unreached: `status ${status}` };
    const wanted = new Set(asked.map(({ upstreamId }) => upstreamId));
    return objectsIn(answer)
      .slice(0, batch)
      .map(observationIn)
      .filter((seen) => seen !== null)
      .filter(({ upstreamId }) => wanted.delete(upstreamId));
  },
});
