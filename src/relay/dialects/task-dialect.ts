import type { AnswerWriter } from '../contracts/answer-writer.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { countedPrompt } from '../metering/prompt-tally.js';

/* Endpoints that submit tasks, and dialects in which nothing else is asked for: answers are short and come whole. */

type TaskDialect = Pick<CallerDialect, 'errorBody'> & Pick<Partial<CallerDialect>, 'statusOf'>;

const noStream = (): never => {
  throw new Error('a task is not answered by a stream');
};

const bytesOf: CallerDialect['whole'] = ({ body, received, untouched }) =>
  untouched ? received : Buffer.from(JSON.stringify(body));

export const taskDialect = (own: TaskDialect): CallerDialect => ({
  wire: 'task',
  misspelled: () => null,
  serviceAsked: () => ({ tiers: [], leftToAccount: false }),
  writer: (): AnswerWriter => noStream(),
  whole: bytesOf,
  withUsage: (bytes) => bytes,
  upstreamHeaders: [],
  errorFrame: noStream,
  endFrame: '',
  idHeader: null,
  keepAlive: '',
  ...own,
});

/** Of every endpoint that submits tasks: nothing streams, speaks or thinks. */
export const taskEndpoint = {
  mode: 'task',
  answersAudio: false,
  thinking: null,
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
} as const satisfies Partial<Endpoint>;

/** Of those whose body goes upstream in the words of its dialect, at a price for the call. */
export const pricedPerTask = {
  ...taskEndpoint,
  body: 'json',
  usualModel: null,
  toNeutral: null,
  demand: () => ({ prompt: countedPrompt(0), answers: 0, asked: null, counted: true }),
} as const satisfies Partial<Endpoint>;
