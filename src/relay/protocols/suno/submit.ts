import { isKeptId } from '../../../domain/call/kept-object.js';
import type { CallerRequest, UpstreamChannel } from '../../contracts/protocol.js';
import { sunoMembers } from '../../contracts/suno-request.js';
import type { SubmitWire } from '../../contracts/task-wire.js';
import { isObject, type JsonObject, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { confidentialOf } from '../confidential-of.js';
import { baseOf, noThinking, written } from '../request-builder.js';
import { notTaken, taken, unclear } from '../task-answer.js';

/* How a Suno server is asked for a song or for lyrics, and what it says to that. */

export const bearer = ({ key }: Pick<UpstreamChannel, 'key'>): Record<string, string> => ({
  authorization: `Bearer ${key.trim()}`,
});

const usualVersion = 'chirp-v3-0';

function sentBody({ task, body }: CallerRequest, { paramOverride }: UpstreamChannel): JsonObject {
  const music = task?.action === 'MUSIC';
  const sent: JsonObject = {};
  for (const name of Object.keys(sunoMembers[music ? 'music' : 'lyrics']))
    if ((body[name] ?? null) !== null) sent[name] = body[name];
  if (music) sent.mv = textIn(sent.mv) ?? usualVersion;
  // One that is not known to be the caller's is not named to a server whose account others share.
  delete sent.task_id;
  if (music && task?.parent) sent.task_id = task.parent.facts.upstreamId;
  return { ...sent, ...paramOverride };
}

/** What a server says to a request: it took it, or says that it did not. null: neither can be read. */
const replyIn = (body: Buffer): JsonObject | null => {
  const reply = upstreamJson(body);
  return isObject(reply) && textIn(reply.code) !== null ? reply : null;
};

export const sunoSubmit: SubmitWire = {
  request({ provider, channel, caller, model }) {
    const action = caller.task?.action ?? '';
    const base = `${baseOf(provider, channel)}/suno/submit/`;
    return {
      method: 'POST',
      url: base + action,
      // Servers differ in how they spell it.
      urlIfMissing: base + action.toLowerCase(),
      headers: { ...bearer(channel), 'content-type': 'application/json' },
      content: { kind: 'json', text: written(sentBody(caller, channel)) },
      model,
      ...noThinking,
    };
  },

  answer({ provider, channel, caller, status, body }) {
    const reply = replyIn(body);
    const confidential = confidentialOf(provider, channel);
    if (reply === null) return status >= 400 && status < 500 ? notTaken(status, body, confidential) : unclear(status);
    if (status >= 400 || reply.code !== 'success') return notTaken(status < 400 ? 500 : status, body, confidential);
    const id = textIn(reply.data);
    if (id === null || !isKeptId(id)) return unclear(status);
    const { prompt, gpt_description_prompt: described } = caller.body;
    return taken(body, reply, {
      upstreamId: id,
      action: caller.task?.action ?? '',
      status: 'not-started',
      progress: 0,
      content: { prompt: textIn(described) ?? textIn(prompt) ?? '', urls: [] },
    });
  },
};
