import { RelayError } from '../../contracts/errors.js';
import { sunoActions } from '../../contracts/suno-request.js';
import { isList, type JsonObject } from '../../json/json.js';
import { readCredential } from '../openai/credential.js';
import { answersJson, type IncomingRequest, incomingCall, type Route, type RoutesOptions } from '../route.js';
import { sunoCaller as dialect } from './dialect.js';
import { sunoEndpoint } from './endpoints/submit.js';
import { sunoTask } from './task-object.js';

/* Songs and lyrics, as clients of Suno's servers ask for them, and how far they are. */

/** Tasks of one request. */
const maxIds = 100;

const invalidRequest = (message: string, param: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

function idsIn({ ids }: JsonObject): readonly string[] {
  if ((ids ?? null) === null) return [];
  const texts = isList(ids) ? ids.flatMap((id) => (typeof id === 'string' ? [id] : [])) : null;
  if (texts !== null && isList(ids) && texts.length === ids.length && ids.length <= maxIds) return texts;
  throw invalidRequest(`ids must be a list of at most ${maxIds} texts`, 'ids');
}

const succeeded = (data: JsonObject | readonly JsonObject[]) => ({ code: 'success', message: '', data });

const shownIn = ({ path, query, request, ip }: IncomingRequest) => ({
  credential: readCredential(path, request.headers, query),
  ip,
});

export function sunoRoutes({ relay }: RoutesOptions): Route[] {
  const byAction = new Map<string, ReturnType<typeof sunoEndpoint>>(
    sunoActions.map((action) => [action, sunoEndpoint(action)]),
  );
  const submit = async (exchange: IncomingRequest): Promise<void> => {
    const endpoint = byAction.get((exchange.params.action ?? '').toLowerCase());
    if (endpoint === undefined) {
      await relay.identify(shownIn(exchange));
      throw invalidRequest('invalid_action', 'action');
    }
    await relay.handle(incomingCall(exchange, endpoint, endpoint.path, null));
  };
  const fetchAll = answersJson(async (exchange) => {
    const asked = { ...shownIn(exchange), platform: 'suno', ids: idsIn, bodySource: exchange.request } as const;
    return succeeded((await relay.ownTasks(asked)).map(sunoTask));
  });
  const fetchOne = answersJson(async (exchange) => {
    const id = exchange.params.id ?? '';
    const asked = { ...shownIn(exchange), platform: 'suno', ids: () => [id], bodySource: null } as const;
    const [task] = await relay.ownTasks(asked);
    if (task === undefined) throw new RelayError(400, 'task_not_exist', 'task_not_exist');
    return succeeded(sunoTask(task));
  });
  return [
    { method: 'POST', path: '/suno/submit/:action', dialect, answer: submit },
    { method: 'POST', path: '/suno/fetch', dialect, answer: fetchAll },
    { method: 'GET', path: '/suno/fetch/:id', dialect, answer: fetchOne },
  ];
}
