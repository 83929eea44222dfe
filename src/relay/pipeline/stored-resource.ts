import { storedResponseTime } from '../../domain/call/stored-response.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { jsonType, RelayError } from '../contracts/errors.js';
import { HttpCaller } from '../delivery/http-caller.js';
import { writeToEnd } from '../delivery/write-answer.js';
import { jsonText } from '../json/exact-number.js';
import { objectsIn, parseJson } from '../json/json.js';
import type { KeptRequest } from './kept-resource.js';
import type { StagePorts } from './stage-ports.js';
import { storedConversation } from './stored-conversation.js';

/* A response that the gateway stores itself, looked at or deleted by its user. */

const invalid = (message: string, param: string | null): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

/** The answer as JSON; null: no such response is stored here for this user. Throws RelayError. */
async function answerOf(
  ports: StagePorts,
  { endpoint, kind, id, rest, method, query }: KeptRequest,
  user: UserId,
): Promise<string | null> {
  const { conversation: members } = endpoint;
  if (members === undefined || kind !== 'response' || id === null || storedResponseTime(id) === null) return null;
  const [below] = rest;
  if (method === 'DELETE' && below === undefined)
    return (await ports.storedResponses.remove(user, id)) ? jsonText(members.deleted(id)) : null;
  const stored = await storedConversation(ports, user, id);
  if (stored === null) return null;
  if (below === 'cancel') throw invalid('only a response in the background can be cancelled', null);
  if (below === 'input_items')
    return ports.largeWork.run(stored.input.length, () => {
      const items = objectsIn(parseJson(`[${stored.input}]`));
      return jsonText(members.page(id, items, query));
    });
  if (query.get('stream') === 'true') throw invalid('stream must be false: the response is whole', 'stream');
  return stored.response;
}

/** False: it is not one of these. Throws RelayError. */
export async function serveStored(ports: StagePorts, asked: KeptRequest, user: UserId): Promise<boolean> {
  const answer = await answerOf(ports, asked, user);
  if (answer === null) return false;
  const bytes = Buffer.from(answer);
  const connection = new HttpCaller(asked, asked.endpoint.dialect);
  connection.begin(jsonType, [], bytes.length);
  await writeToEnd(connection, bytes, ports.stalledCallers);
  return true;
}
