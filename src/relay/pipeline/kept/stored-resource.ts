import { storedResponseTime } from '../../../domain/call/stored-response.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { noRoomHere } from '../../answers/lost-answer.js';
import { fromUpstream, jsonType, RelayError } from '../../contracts/errors.js';
import { HttpCaller } from '../../delivery/http-caller.js';
import { writeToEnd } from '../../delivery/write-answer.js';
import { jsonText } from '../../json/exact-number.js';
import { objectsIn, parseJson } from '../../json/json.js';
import type { AnswerSlot } from '../../upstream/answer-room.js';
import type { StagePorts } from '../stage-ports.js';
import type { KeptRequest } from './kept-resource.js';
import { storedInputIn, storedResponseIn } from './packed-conversation.js';
import { readStored } from './stored-conversation.js';

/* A response that the gateway stores itself, looked at or deleted by its user. */

const invalid = (message: string, param: string | null): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

/** The answer as JSON, its bytes counted by the slot; null: no such response is stored here for this user. Throws RelayError. */
async function answerOf(
  ports: StagePorts,
  { endpoint, kind, id, rest, method, query }: KeptRequest,
  user: UserId,
  slot: AnswerSlot,
): Promise<Buffer | null> {
  const { conversation: members } = endpoint;
  if (members === undefined || kind !== 'response' || id === null || storedResponseTime(id) === null) return null;
  const [below] = rest;
  if (method === 'DELETE' && below === undefined)
    return (await ports.storedResponses.remove(user, id)) ? Buffer.from(jsonText(members.deleted(id))) : null;
  const take = (bytes: number): void => {
    const full = slot.take(bytes);
    if (full !== null) throw fromUpstream(noRoomHere(full), 503);
  };
  if (below === 'input_items') {
    const input = await readStored(ports, user, id, { take, read: storedInputIn });
    if (input === null) return null;
    take(Buffer.byteLength(input));
    return ports.largeWork.run(input.length, () => {
      const items = objectsIn(parseJson(`[${input}]`));
      return Buffer.from(jsonText(members.page(id, items, query)));
    });
  }
  const response = await readStored(ports, user, id, { take, read: storedResponseIn });
  if (response === null) return null;
  if (below === 'cancel') throw invalid('only a response in the background can be cancelled', null);
  if (query.get('stream') === 'true') throw invalid('stream must be false: the response is whole', 'stream');
  return response;
}

/** False: it is not one of these. Throws RelayError. */
export async function serveStored(
  ports: StagePorts,
  asked: KeptRequest,
  user: UserId,
  slot: AnswerSlot,
): Promise<boolean> {
  const bytes = await answerOf(ports, asked, user, slot);
  if (bytes === null) return false;
  const connection = new HttpCaller(asked, asked.endpoint.dialect);
  connection.begin(jsonType, [], bytes.length);
  await writeToEnd(connection, bytes, ports.stalledCallers);
  return true;
}
