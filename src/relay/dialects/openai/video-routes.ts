import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import { type VideoVariant, videoVariants } from '../../contracts/video-files.js';
import { answersJson, callsOf, type IncomingRequest, incomingCall, type Route, type RoutesOptions } from '../route.js';
import { readCredential } from './credential.js';
import { openAiCaller as dialect } from './dialect.js';
import { remixOf, videoGenerations, videos } from './endpoints/videos.js';
import { shownGeneration, shownVideo } from './video-words.js';

/* Where videos are ordered, looked at, listed, deleted and downloaded. */

const usualPage = 20;
const maxPage = 100;
const maxIndex = 9;

const invalidQuery = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

function countIn(query: URLSearchParams, name: string, usual: number, [min, max]: readonly [number, number]): number {
  const text = query.get(name);
  if (text === null || text === '') return usual;
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw invalidQuery(name, `${name} must be a whole number from ${min} to ${max}`);
}

function wordIn<Word extends string>(
  query: URLSearchParams,
  name: string,
  allowed: readonly Word[],
  usual: Word,
): Word {
  const text = query.get(name);
  if (text === null || text === '') return usual;
  const word = allowed.find((one) => one === text);
  if (word !== undefined) return word;
  throw invalidQuery(name, `${name} must be one of ${allowed.join(', ')}`);
}

const shownIn = ({ path, query, request, ip }: IncomingRequest) => ({
  credential: readCredential(path, request.headers, query),
  ip,
});

/** `under`: where this path is served. */
export function videoRoutes({ relay, directory }: RoutesOptions, under: (path: string) => string): Route[] {
  const calls = (endpoint: Endpoint): Route => callsOf({ ...endpoint, path: under(endpoint.path) }, relay);
  const idIn = ({ params }: IncomingRequest): string => params.id ?? '';

  const list = answersJson(async (exchange) => {
    const { query } = exchange;
    const limit = countIn(query, 'limit', usualPage, [1, maxPage]);
    const order = wordIn(query, 'order', ['desc', 'asc'], 'desc');
    const after = query.get('after') || null;
    const { videos, last } = await relay.ownVideos(shownIn(exchange), { limit, order, after });
    const data = videos.map(({ task, order }) => shownVideo(task, order));
    return {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: last ?? data.at(-1)?.id ?? null,
      has_more: last !== null,
    };
  });

  const retrieve = answersJson(async (exchange) => {
    const { task, order } = await relay.ownVideo(shownIn(exchange), idIn(exchange));
    return shownVideo(task, order);
  });

  const fetchGeneration = answersJson(async (exchange) => {
    const { task, order } = await relay.ownVideo(shownIn(exchange), idIn(exchange));
    return shownGeneration(task, order, directory.settings().siteAddress);
  });

  const remove = answersJson(async (exchange) => {
    const id = idIn(exchange);
    await relay.deleteVideo(shownIn(exchange), id);
    return { id, deleted: true, object: 'video.deleted' };
  });

  const wantedIn = (exchange: IncomingRequest) => ({
    ...exchange,
    ...{ dialect, range: exchange.request.headers.range, isHead: exchange.request.method === 'HEAD' },
    variant: wordIn<VideoVariant>(exchange.query, 'variant', videoVariants, 'video'),
    index: countIn(exchange.query, 'index', 0, [0, maxIndex]),
  });
  const content = (exchange: IncomingRequest): Promise<void> =>
    relay.sendVideoFile({ ...wantedIn(exchange), ...shownIn(exchange), id: idIn(exchange) });
  const signed = (exchange: IncomingRequest): Promise<void> =>
    relay.sendSignedVideo({ ...wantedIn(exchange), name: exchange.params.name ?? '' });

  const remix = async (exchange: IncomingRequest): Promise<void> => {
    const { task, order } = await relay.ownVideo(shownIn(exchange), idIn(exchange));
    if (task.status !== 'succeeded')
      throw new RelayError(400, 'video_not_ready', 'only a video that is ready can be remixed', {
        type: 'invalid_request_error',
        param: null,
      });
    await relay.handle(incomingCall(exchange, remixOf(task, order), exchange.path, order.model));
  };

  const video = under('/v1/videos/:id');
  return [
    calls(videos),
    calls(videoGenerations),
    { method: 'GET', path: under(videos.path), dialect, answer: list },
    { method: 'GET', path: video, dialect, answer: retrieve },
    { method: 'DELETE', path: video, dialect, answer: remove },
    { method: 'GET', path: `${video}/content`, dialect, answer: content },
    { method: 'GET', path: under('/v1/videos/files/:name'), dialect, answer: signed },
    { method: 'POST', path: `${video}/remix`, dialect, answer: remix },
    { method: 'GET', path: under(`${videoGenerations.path}/:id`), dialect, answer: fetchGeneration },
  ];
}
