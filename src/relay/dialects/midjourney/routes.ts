import { RelayError } from '../../contracts/errors.js';
import { HttpCaller } from '../../delivery/http-caller.js';
import { isList, type JsonObject } from '../../json/json.js';
import { submitKinds } from '../../protocols/midjourney/submission.js';
import { readCredential } from '../openai/credential.js';
import { answersJson, type IncomingRequest, incomingCall, type Route, type RoutesOptions } from '../route.js';
import { midjourneyCaller as dialect, pictureCaller } from './dialect.js';
import { imageSeedIn, seedPath } from './image-seed.js';
import { modes } from './modes.js';
import { midjourneySubmit, submitPath } from './submit.js';
import { writtenTask } from './written-task.js';

/* Drawings, as clients of a Midjourney proxy ask for them, and how far they are. */

/** Tasks of one request. */
const maxIds = 100;

const wrong = (word: string, param: string, message = '', status = 400): RelayError =>
  new RelayError(status, word, message, { type: 'invalid_request_error', param });

function idsIn({ ids }: JsonObject): readonly string[] {
  if ((ids ?? null) === null) return [];
  if (isList(ids) && ids.length <= maxIds && ids.every((id) => typeof id === 'string')) return ids as readonly string[];
  throw wrong('ids_is_invalid', 'ids', `ids must be a list of at most ${maxIds} texts`);
}

const shownIn = ({ path, query, request, ip }: IncomingRequest) => ({
  credential: readCredential(path, request.headers, query),
  ip,
});

const platform = 'midjourney';

export function midjourneyRoutes({ relay, directory, vault, clock }: RoutesOptions): Route[] {
  const written = (task: Parameters<typeof writtenTask>[1]) =>
    writtenTask({ vault, settings: directory.settings(), now: clock.now() }, task);

  const fetchAll = answersJson(async (exchange) => {
    const asked = { ...shownIn(exchange), platform, ids: idsIn, bodySource: exchange.request } as const;
    return (await relay.ownTasks(asked)).map(written);
  });
  const fetchOne = answersJson(async (exchange) => {
    const id = exchange.params.id ?? '';
    const asked = { ...shownIn(exchange), platform, ids: () => [id], bodySource: null } as const;
    const [task] = await relay.ownTasks(asked);
    if (task === undefined) throw wrong('task_no_found', 'id');
    return written(task);
  });
  const seed = answersJson(async (exchange) => {
    const asked = { ...shownIn(exchange), platform, id: exchange.params.id ?? '', path: seedPath } as const;
    return imageSeedIn(await relay.askAboutTask(asked));
  });
  const report = answersJson(async ({ params: { call = '', secret = '' }, request, ip }) => {
    await relay.takeReport({ callId: call, secret, bodySource: request, ip });
    return { code: 1, description: 'success', result: '' };
  });

  const under = (prefix: string, mode: string): Route[] => [
    ...submitKinds.map((kind): Route => {
      const endpoint = midjourneySubmit(kind, mode);
      return {
        ...{ method: 'POST', path: prefix + submitPath(kind), dialect },
        answer: (exchange) => relay.handle(incomingCall(exchange, endpoint, exchange.path, null)),
      };
    }),
    { method: 'GET', path: `${prefix}/mj/task/:id/fetch`, dialect, answer: fetchOne },
    { method: 'POST', path: `${prefix}/mj/task/list-by-condition`, dialect, answer: fetchAll },
    { method: 'GET', path: `${prefix}/mj/task/:id/image-seed`, dialect, answer: seed },
  ];
  return [
    ...modes.flatMap(({ prefix, sent }) => under(prefix, sent)),
    { method: 'POST', path: '/mj/notify/:call/:secret', dialect, answer: report },
    {
      ...{ method: 'GET', path: '/mj/image/:name', dialect: pictureCaller },
      answer: (exchange) =>
        relay.taskPicture(new HttpCaller(exchange, pictureCaller), {
          name: exchange.params.name ?? '',
          headOnly: exchange.request.method === 'HEAD',
        }),
    },
  ];
}
