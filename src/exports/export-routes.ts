import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import { TimeZone } from '../application/calendar.js';
import type { UserView } from '../application/ports/storage-ports.js';
import type { StatementLine } from '../application/usage/statement-lines.js';
import type { MonthOf, StatementMonth } from '../application/usage/statements.js';
import { Failure, type FailureKind, invalidField } from '../domain/kernel/failure.js';
import { UserId } from '../domain/kernel/ids.js';
import { sessionTokenIn } from '../http/session-cookie.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import { actsAsCsv, actsAsLines, actsRequestIn } from './acts-file.js';
import { type Cell, csvOf } from './csv.js';
import { ExportSlots } from './export-slots.js';
import { fileTexts } from './file-texts.js';
import { historyAsCsv, historyAsLines, historyFileName, historyRequestIn } from './history-file.js';
import { logColumns, logRequestIn } from './log-file.js';
import { whatIfCells, whatIfHeader, whatIfRequestIn } from './what-if-file.js';

/*
 * Files that a signed-in browser saves: a link is all it takes, so the session's cookie is all that is asked for. They are
 * written as they are read, never faster than they are taken.
 */

interface ExportOptions {
  readonly application: {
    readonly identity: Pick<Application['identity'], 'bySession'>;
    readonly queries: Pick<
      Application['queries'],
      | 'monthOfUsage'
      | 'monthOfWallet'
      | 'exportedLog'
      | 'exportedHistory'
      | 'exportedActs'
      | 'sealedLog'
      | 'foundWhatIf'
    >;
    readonly directory: Pick<Application['directory'], 'settings'>;
    readonly clock: Pick<Application['clock'], 'now'>;
  };
  readonly newRequestId: () => string;
  readonly origins: { isForeign(request: IncomingMessage): boolean };
  /** Whether a client may ask once more. */
  readonly allowRequest: (client: string) => boolean;
  /** Left out: a minute, and a quarter of an hour in all. */
  readonly patience?: Patience;
}

const places = { each: 2, all: 8 };
const retryAfterSeconds = 10;
export interface Patience {
  /** Who takes nothing for so long is gone. */
  readonly stalledMs: number;
  /** Longest anybody has a place. */
  readonly maxMs: number;
}

const usualPatience: Patience = { stalledMs: 60_000, maxMs: 15 * 60_000 };

const statusOf: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  refused: 409,
  conflict: 409,
  exhausted: 429,
  upstream: 502,
  unavailable: 503,
};

/** Names of parameters and what they may be, or how much; nothing else of a failure is for the answer. */
function textOf({ code, details: { field, allowed } }: Failure): string {
  if (field !== undefined) return `${code}: ${field} must be ${allowed}`;
  return allowed === undefined ? code : `${code}: at most ${allowed}`;
}

function askedIn({ query }: FastifyRequest): StatementMonth {
  const { month = '', zone = 'UTC', user } = query as Readonly<Record<string, unknown>>;
  if (typeof month !== 'string') throw invalidField('month', 'a single value');
  if (typeof zone !== 'string') throw invalidField('zone', 'a single value');
  if (user !== undefined && !/^[1-9]\d{0,14}$/.test(String(user))) throw invalidField('user', 'the id of a user');
  return { month, zone, userId: user === undefined ? null : UserId(Number(user)) };
}

export async function exportRoutes(app: FastifyInstance, options: ExportOptions): Promise<void> {
  const { application, newRequestId, origins, allowRequest, patience = usualPatience } = options;
  const { identity, queries, directory } = application;
  const room = new ExportSlots(places);

  app.addHook('onRequest', async (request, reply) => {
    request.id = newRequestId();
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
  app.setErrorHandler((error, request, reply) => {
    const said = error instanceof Failure ? textOf(error) : null;
    if (said === null) request.log.error({ err: error, requestId: request.id }, 'an export failed');
    if (error instanceof Failure && error.kind === 'exhausted') void reply.header('retry-after', retryAfterSeconds);
    const status = error instanceof Failure ? statusOf[error.kind] : 500;
    return reply
      .status(status)
      .type('text/plain; charset=utf-8')
      .send(`${said ?? `internal error (${request.id})`}\n`);
  });

  const viewerOf = async ({ ip, raw, headers }: FastifyRequest): Promise<UserView> => {
    if (!allowRequest(ip)) throw new Failure('too-many-attempts');
    if (origins.isForeign(raw)) throw new Failure('not-signed-in');
    const token = sessionTokenIn(headers.cookie);
    const viewer = token === null ? null : await identity.bySession(token);
    if (viewer === null) throw new Failure('not-signed-in');
    return viewer;
  };

  /** Quota in US dollars, by the unit of now. */
  const moneyNow = (): ((quota: bigint) => string) => {
    const perUnit = Number(directory.settings().prices.quotaPerUnit);
    return (quota) => (Number(quota) / perUnit).toFixed(6);
  };

  const serve = (path: string, made: (viewer: UserView, request: FastifyRequest) => Promise<MadeFile>): void => {
    app.get(path, async (request, reply) => {
      const viewer = await viewerOf(request);
      const leave = room.take(viewer.id);
      if (leave === null) throw new Failure('too-many-attempts');
      try {
        return send(reply, await made(viewer, request), leave, patience, request.method === 'HEAD');
      } catch (error) {
        leave();
        throw error;
      }
    });
  };

  const download = <Line>(
    path: string,
    name: string,
    header: (zone: string) => readonly string[],
    read: (viewer: UserView, asked: StatementMonth) => Promise<MonthOf<Line>>,
    cellsOf: (line: Line, month: MonthOf<Line>, money: (quota: bigint) => string) => readonly Cell[],
  ): void =>
    serve(path, async (viewer, request) => {
      const found = await read(viewer, askedIn(request));
      const money = moneyNow();
      return {
        name: `${name}-${found.userId}-${found.month.name}.csv`,
        type: csv,
        texts: csvOf(header(found.month.zone.name), found.pages, (line) => cellsOf(line, found, money)),
      };
    });

  download<UsageLogEntry>(
    '/export/usage.csv',
    'usage',
    (zone) => [
      `time (${zone})`,
      'request id',
      'model',
      'API key',
      'input tokens',
      'cached input tokens',
      'output tokens',
      'reasoning tokens',
      'quota',
      'USD',
    ],
    (viewer, asked) => queries.monthOfUsage(viewer, asked),
    (line, { month }, money) => [
      month.zone.timeOf(line.created_at * 1000),
      line.request_id,
      line.model,
      line.api_key_name,
      line.prompt_tokens,
      line.cached_tokens,
      line.completion_tokens,
      line.reasoning_tokens,
      line.quota,
      money(BigInt(line.quota)),
    ],
  );

  download<StatementLine>(
    '/export/statement.csv',
    'statement',
    (zone) => [`time (${zone})`, 'kind', 'calls', 'quota', 'USD', 'balance', 'balance USD'],
    (viewer, asked) => queries.monthOfWallet(viewer, asked),
    ({ time, kind, calls, amount, balance }, _month, money) => [
      time,
      kind,
      calls,
      amount,
      amount === null ? null : money(amount),
      balance,
      money(balance),
    ],
  );

  serve('/export/log.csv', async (viewer, request) => {
    const asked = logRequestIn(request);
    const columns = logColumns(asked, moneyNow());
    const pages = await queries.exportedLog(viewer, asked.filter, !asked.everyone);
    return {
      name: `log-${asked.zone.dayOf(application.clock.now())}.csv`,
      type: csv,
      texts: csvOf(
        columns.map(({ name }) => name),
        pages,
        (line) => columns.map(({ cell }) => cell(line)),
      ),
    };
  });

  for (const [ending, type, texts] of historyForms)
    serve(`/export/history.${ending}`, async (viewer, request) => {
      const { of, filter } = historyRequestIn(request);
      const pages = await queries.exportedHistory(viewer, of, filter);
      const day = TimeZone.named('zone', 'UTC').dayOf(application.clock.now());
      return { name: `${historyFileName(of, day)}.${ending}`, type, texts: texts(pages) };
    });

  serve('/export/what-if.csv', async (viewer, request) => {
    const { id, by } = whatIfRequestIn(request);
    const rows = queries.foundWhatIf(viewer, id, by);
    const money = moneyNow();
    const day = TimeZone.named('zone', 'UTC').dayOf(application.clock.now());
    return {
      name: `what-if-${by}-${day}.csv`,
      type: csv,
      texts: csvOf(whatIfHeader, onePage(rows), (row) => whatIfCells(row, money)),
    };
  });

  serve('/export/sealed-log.ndjson.gz', async (viewer) => {
    const day = TimeZone.named('zone', 'UTC').dayOf(application.clock.now());
    const texts = fileTexts('', queries.sealedLog(viewer), (line) => `${line}\n`);
    return { name: `sealed-log-${day}.ndjson.gz`, type: 'application/gzip', texts, isCompressed: true };
  });
  for (const [ending, type, texts] of actForms)
    serve(`/export/administrators.${ending}`, async (viewer, request) => {
      const pages = await queries.exportedActs(viewer, actsRequestIn(request));
      const day = TimeZone.named('zone', 'UTC').dayOf(application.clock.now());
      return { name: `administrators-${day}.${ending}`, type, texts: texts(pages) };
    });
}

async function* onePage<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[], void, undefined> {
  yield rows;
}

const csv = 'text/csv; charset=utf-8';
const historyForms = [
  ['csv', csv, historyAsCsv],
  ['ndjson', 'application/x-ndjson; charset=utf-8', historyAsLines],
] as const;

const actForms = [
  ['csv', csv, actsAsCsv],
  ['ndjson', 'application/x-ndjson; charset=utf-8', actsAsLines],
] as const;

interface MadeFile {
  readonly name: string;
  readonly type: string;
  readonly texts: AsyncGenerator<string>;
  readonly isCompressed?: boolean;
}

/** The stream ends the reading of pages when the browser leaves, and so gives the place back whatever happens. */
function send(
  reply: FastifyReply,
  { name, type, texts, isCompressed = false }: MadeFile,
  leave: () => void,
  { stalledMs, maxMs }: Patience,
  headOnly: boolean,
): FastifyReply {
  const { raw } = reply;
  // Of a HEAD nothing is read: no page of the log has been asked for yet.
  const read = headOnly ? Readable.from([]) : Readable.from(texts, { highWaterMark: 1 });
  // Whichever ends, or fails, ends the other.
  const body = isCompressed ? pipeline(read, createGzip(), () => {}) : read;
  const end = setTimeout(() => body.destroy(), maxMs);
  body.once('close', () => {
    clearTimeout(end);
    leave();
  });
  raw.setTimeout(stalledMs, () => body.destroy());
  return reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(body);
}
