import type { AnswerWriter } from '../contracts/answer-writer.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';

/* A dialect in which tasks are asked for and nothing else: its answers are short, come whole, and are passed on. */

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
