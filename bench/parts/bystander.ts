import { loadavg } from 'node:os';
import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { addCustomer } from '../customer.js';
import { unlimited } from '../data-set.js';
import { rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { type Child, startChild } from '../processes/child.js';
import type { Disturbance, DisturberAnswer, DisturberQuestion } from '../processes/disturber.js';
import { type Costed, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, inRounds, medianOf, oneRound, type Round, share } from '../rounds.js';
import { decimal, table } from '../table.js';

/*
 * What a caller of small calls notices while one other caller asks for as much as it may: prompts of a megabyte against
 * a long list of words, bodies as large as they may be, exports of the log. With nobody else, and with each, in turns.
 */

const model = 'gpt-4o-mini';
const heavyModel = 'gpt-4o';
const alone = 'alone';
const warmUpSeconds = 2;
const perSecond = 50;

interface Disturber {
  readonly name: string;
  readonly connections: number;
  readonly disturbance: Disturbance;
}

/** Words nobody writes, and beginnings of which many texts are full. */
const wordsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    at % 2 === 0 ? `charge${at}~` : `账单${String.fromCharCode(0x4e00 + (at % 5000))}${at}~`,
  );

/** A text in which every word begins and none is whole. */
const nearlyWords = (words: readonly string[]): string =>
  words
    .slice(0, 2_000)
    .map((word) => `${word.slice(0, -1)} `)
    .join('');

/** The lines there are, over and over, as another user's: events of their own would take minutes to fold. */
async function lengthenLog({ database: { pool } }: Rig, lines: number, userId: number): Promise<void> {
  const { rows } = await pool.query<{ schema: string; column: string }>(
    `select table_schema as schema, column_name as column from information_schema.columns
     where table_name = 'usage_log' and column_name not in ('id', 'user_id')`,
  );
  const table = `"${rows[0]?.schema}".usage_log`;
  const columns = rows.map(({ column }) => `"${column}"`).join(', ');
  await pool.query(
    `insert into ${table} (id, user_id, ${columns})
     select -row_number() over (), $1, ${columns}
     from (select * from ${table} where type = 2 limit 100) as line cross join generate_series(1, $2::integer / 100)`,
    [userId, lines],
  );
}

async function disturbersOf(
  rig: Rig,
  child: Child<DisturberQuestion, DisturberAnswer>,
  { words, lines, megabytes }: { readonly words: number; readonly lines: number; readonly megabytes: number },
): Promise<Disturber[]> {
  const { root, url } = rig;
  const upstream = await child.ask({ ask: 'upstream' });
  await root.call('POST', '/api/channel/', {
    name: 'disturber',
    type: 1,
    key: 'sk-bench',
    base_url: upstream.url,
    models: heavyModel,
    group: 'default',
    priority: 10,
  });
  const list = wordsOf(words);
  await root.call('PUT', '/api/option/', { key: 'SensitiveWords', value: list.join('\n') });
  const { id, apiKey } = await addCustomer(root, url, 'disturber');
  await lengthenLog(rig, lines, id);
  const chat = (text: string, messages: number, bytes: number) => ({ model: heavyModel, text, messages, bytes });
  const megabyte = 1_000_000;
  return [
    {
      name: 'words',
      connections: 4,
      disturbance: { kind: 'chat', url, apiKey, bodies: [chat(nearlyWords(list), 1, megabyte)] },
    },
    {
      name: 'bodies',
      connections: 2,
      disturbance: {
        kind: 'chat',
        url,
        apiKey,
        // One long text, and as many short ones.
        bodies: [1, 100_000].map((messages) => chat('Who proves a "charge"?\n', messages, megabytes * megabyte)),
      },
    },
    {
      name: 'exports',
      connections: 2,
      disturbance: { kind: 'download', url: `${url}/export/log.csv?everyone=true`, cookie: root.cookie },
    },
  ];
}

async function measured(
  rig: Rig,
  child: Child<DisturberQuestion, DisturberAnswer>,
  disturber: Disturber | undefined,
  seconds: number,
): Promise<Costed> {
  const measure = () => rig.measure(tallygate, { model, stream: false, pace: { perSecond }, seconds });
  if (disturber === undefined) return measure();
  const { name, disturbance, connections } = disturber;
  await child.ask({ ask: 'begin', disturbance, connections });
  const found = await measure();
  const { done, refusal } = await child.ask({ ask: 'end' });
  if (done === 0) throw new Error(`${name}: no request was answered; ${refusal}`);
  return found;
}

function figuresOf(rounds: readonly Round<Costed>[], names: readonly string[]) {
  const of = (name: string, at: 'p50' | 'p99' | 'max') => medianOf(rounds, name, ({ latencyMs }) => latencyMs[at]);
  const ratio = (name: string, at: 'p50' | 'p99') =>
    comparedIn(rounds, [name, alone], ({ latencyMs }) => latencyMs[at], share);
  return {
    bystander: [alone, ...names].map((name) => ({
      beside: name,
      p50: of(name, 'p50'),
      p99: of(name, 'p99'),
      max: of(name, 'max'),
      p50ToAlone: name === alone ? 1 : ratio(name, 'p50'),
      p99ToAlone: name === alone ? 1 : ratio(name, 'p99'),
    })),
    loadAverage: rounded(loadavg()[0] ?? 0, 1),
  };
}

export const bystander = part({
  name: 'bystander',
  says: 'what small calls take while one other caller sends long prompts against many words, bodies of 50 MB, or exports the log',
  options: {
    seconds: seconds(5, 'length of each measurement'),
    rounds: count(5, 'how often everything is measured', 1000),
    words: count(8_000, 'words that prompts must not hold', 100_000),
    lines: count(50_000, 'lines of the log that is exported', 100_000),
    megabytes: count(50, 'of a large body', 100),
  },
  run({ seconds, rounds: count, ...asked }, surroundings) {
    const { progress } = surroundings;
    const answer = { chunks: 20, chunkSize: 5 };
    const options = { models: { [model]: answer, [heavyModel]: answer }, environment: unlimited };
    return withRig(options, surroundings, async (rig): Promise<Outcome> => {
      const child = startChild<DisturberQuestion, DisturberAnswer>('./disturber.ts');
      try {
        progress('warming up');
        await measured(rig, child, undefined, warmUpSeconds);
        const disturbers = await disturbersOf(rig, child, asked);
        const names = disturbers.map(({ name }) => name);
        const once = (number: number, length: number) =>
          oneRound([alone, ...names], number, (name) =>
            measured(
              rig,
              child,
              disturbers.find((disturber) => disturber.name === name),
              length,
            ),
          );
        await once(0, warmUpSeconds);
        const rounds = await inRounds(count, surroundings, (number) => once(number, seconds));
        const { books, differences } = await rig.checkBooks();
        const found = figuresOf(rounds, names);
        return {
          figures: { ...found, books },
          lines: [
            ...table(
              ['small calls beside', 'p50 ms', 'p99 ms', 'longest ms', 'p50 / alone', 'p99 / alone'],
              found.bystander.map(({ beside, p50, p99, max, p50ToAlone, p99ToAlone }) => [
                beside,
                decimal(p50, 1),
                decimal(p99, 1),
                decimal(max, 1),
                decimal(p50ToAlone),
                decimal(p99ToAlone),
              ]),
            ),
            '',
            `load average ${found.loadAverage}`,
            booksLine(books, differences),
          ],
          differences,
        };
      } finally {
        await child.stop();
      }
    });
  },
});
