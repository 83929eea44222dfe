import { setTimeout } from 'node:timers/promises';
import { checkText } from '../../domain/kernel/bounds.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { OtherPrices } from '../../domain/pricing/other-price.js';
import type { RatioTable } from '../../domain/pricing/price-tables.js';
import { readPriceFile } from '../../domain/pricing/records/price-file.js';
import type { PriceRecords } from '../../domain/pricing/records/price-records.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { positionBefore } from '../../projections/models/usage-log/usage-log-hours.js';
import { authorise } from '../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import type { SettledCalls } from '../ports/settled-call-ports.js';
import type { Clock, Directory, EventStore } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';
import { type LogPart, type WhatIf, type WhatIfRow, whatIf } from './what-if.js';

/*
 * What calls would have cost by other prices, for a viewer. A question is put first, and answered while somebody waits for
 * the answer: a file of prices fits into no message of a subscription.
 */

interface WhatIfPorts extends ConsistencyPorts {
  readonly db: ReadModels;
  readonly store: Pick<EventStore, 'readStream' | 'estimateBetween'>;
  readonly settledCalls: SettledCalls;
  readonly directory: Pick<Directory, 'settings'>;
  readonly clock: Clock;
}

export interface GroupRatio {
  readonly group: string;
  /** What the group multiplies prices by: decimal text. */
  readonly ratio: string;
}

interface WhatIfQuestion {
  readonly from: Instant;
  readonly to: Instant;
  /** A price table as it is exported; null: prices stay. */
  readonly prices: string | null;
  readonly groupRatios: readonly GroupRatio[];
}

/** How far it has come. */
export interface WhatIfProgress {
  /** 0 to 100. */
  readonly percent: number;
  /** null: it is not there yet, or there is a problem. */
  readonly found: WhatIfFound | null;
  /** Why there is no answer. `too-many-rows`: a shorter period has one. */
  readonly problem: 'too-many-rows' | 'unavailable' | null;
}

const begun: WhatIfProgress = { percent: 0, found: null, problem: null };

/** The first rows; sums are of all. */
export interface WhatIfFound extends Omit<WhatIf, 'users' | 'models'> {
  readonly users: readonly WhatIfRow[];
  readonly userCount: number;
  /** Who would pay more. */
  readonly dearerUsers: number;
  readonly models: readonly WhatIfRow[];
  readonly modelCount: number;
}

interface Prepared {
  readonly id: string;
  readonly period: Pick<WhatIfQuestion, 'from' | 'to'>;
  readonly others: OtherPrices;
  readonly until: number;
  /** The last answer, for a file. */
  found: Pick<WhatIf, 'users' | 'models'> | null;
}

/** Rows of each list that are answered, and that are kept for a file; all are for the command. */
const maxShown = 500;
const maxKept = 10_000;
const maxGroups = 200;
export const ratioPattern = /^\d{1,6}(?:\.\d{1,9})?$/;
/** Questions of so many people wait for their answer, or may be answered again, for so long. */
const maxPrepared = 20;
const keptMs = 15 * 60_000;
/** Answered at once: each keeps a connection of the database and much of a core busy. */
const maxRunning = 2;
const progressEveryMs = 250;
/** Calls that were written down late are looked for this far back. */
const leadMs = 2 * 3_600_000;

/** Throws `invalid-field`. */
export function groupRatiosIn(given: readonly GroupRatio[]): RatioTable {
  if (given.length > maxGroups) throw invalidField('groupRatios', `at most ${maxGroups} groups`);
  const ratios = new Map<string, string>();
  for (const [index, { group, ratio }] of given.entries()) {
    const field = `groupRatios[${index}]`;
    checkText(`${field}.group`, group, { max: 64 });
    if (group.trim() === '') throw invalidField(`${field}.group`, 'the name of a group');
    if (!ratioPattern.test(ratio)) throw invalidField(`${field}.ratio`, 'a decimal number from 0, such as 0.8');
    if (ratios.has(group)) throw invalidField(`${field}.group`, 'a group that is named once');
    ratios.set(group, ratio);
  }
  return ratios;
}

/** Here the file is called otherwise than where prices are changed by one. */
function readFile(file: string): ReturnType<typeof readPriceFile> {
  try {
    return readPriceFile(file);
  } catch (error) {
    if (error instanceof Failure && error.code === 'invalid-field')
      throw invalidField('prices', String(error.details.allowed));
    throw error;
  }
}

/** Throws `invalid-field`. */
export function recordsIn(file: string): PriceRecords {
  const { prices, faults } = readFile(file);
  const [fault] = faults;
  if (fault !== undefined) throw invalidField('prices', `a file whose ${fault.field} is ${fault.allowed}`);
  return new Map(prices.map(({ model, periods }) => [model, periods]));
}

const shownOf = ({ users, models, ...sums }: WhatIf): WhatIfFound => ({
  ...sums,
  ...{ users: users.slice(0, maxShown), userCount: users.length },
  ...{ models: models.slice(0, maxShown), modelCount: models.length },
  dearerUsers: users.filter(({ actual, hypothetical }) => hypothetical > actual).length,
});

/** The questions that wait for their answer, or have been answered lately: one of each viewer. */
class Questions {
  private readonly prepared = new Map<UserId, Prepared>();

  constructor(private readonly clock: Clock) {}

  /** Takes the place of the viewer's question before. */
  put(viewer: Actor, period: Prepared['period'], others: OtherPrices): string {
    this.prepared.delete(viewer.id);
    const [oldest] = this.prepared.keys();
    if (this.prepared.size >= maxPrepared && oldest !== undefined) this.prepared.delete(oldest);
    const id = randomText(24);
    this.prepared.set(viewer.id, { id, period, others, until: this.clock.now() + keptMs, found: null });
    return id;
  }

  of(viewer: Actor, id: string): Prepared {
    const question = this.prepared.get(viewer.id);
    if (question === undefined || question.id !== id || question.until < this.clock.now())
      throw invalidField('id', 'of a question that you have put within a quarter of an hour');
    return question;
  }
}

/** From where on the log has calls of the period, to where it ends. */
async function partOf(ports: WhatIfPorts, { from }: Prepared['period']): Promise<LogPart> {
  const upTo = await waitForHead(ports, [usageLog.name]);
  return { after: await positionBefore(ports.db, unixSeconds(Instant(Math.max(0, from - leadMs)))), upTo };
}

async function* answer(
  ports: WhatIfPorts,
  question: Prepared,
  signal: AbortSignal,
): AsyncGenerator<WhatIfProgress, void, undefined> {
  const { store, settledCalls, clock } = ports;
  const part = await partOf(ports, question.period);
  const all = Math.max(1, store.estimateBetween(part.after, part.upTo));
  const steps = whatIf({ calls: settledCalls, store }, part, question.period, question.others);
  for (let told = clock.now(); ; ) {
    const { done, value } = await steps.next();
    if (signal.aborted) return;
    if (done) {
      question.found = { users: value.users.slice(0, maxKept), models: value.models.slice(0, maxKept) };
      return yield { percent: 100, found: shownOf(value), problem: null };
    }
    if (Math.abs(clock.now() - told) < progressEveryMs) continue;
    told = clock.now();
    yield { ...begun, percent: percentOf(store.estimateBetween(part.after, value), all) };
  }
}

export function whatIfQueries(ports: WhatIfPorts) {
  const { directory, clock } = ports;
  const questions = new Questions(clock);
  const running = new Set<UserId>();

  return {
    /** The id by which its asker, and nobody else, gets the answer. Takes the place of their question before. */
    askWhatIf(viewer: Actor, { from, to, prices, groupRatios }: WhatIfQuestion): string {
      authorise(viewer, 'admin-reading');
      if (from >= to) throw invalidField('to', 'later than from');
      const others = {
        records: prices === null ? new Map() : recordsIn(prices),
        groupRatio: groupRatiosIn(groupRatios),
        quotaPerUnit: String(directory.settings().prices.quotaPerUnit),
      };
      return questions.put(viewer, { from, to }, others);
    },

    /** Throws `invalid-field` for a question that is not the viewer's, or not kept any more. */
    mayHearWhatIf(viewer: Actor, id: string): void {
      authorise(viewer, 'admin-reading');
      questions.of(viewer, id);
    },

    /** Rows of an answer that has been given, for a file. Throws `invalid-field`. */
    foundWhatIf(viewer: Actor, id: string, by: 'users' | 'models'): readonly WhatIfRow[] {
      authorise(viewer, 'admin-reading');
      const { found } = questions.of(viewer, id);
      if (found === null) throw invalidField('id', 'of a question that has been answered');
      return found[by];
    },

    /** Worked out while it is read: once at a time for each viewer, and after others where there are too many. */
    async *whatIf(viewer: Actor, id: string, signal: AbortSignal): AsyncGenerator<WhatIfProgress, void, undefined> {
      authorise(viewer, 'admin-reading');
      const question = questions.of(viewer, id);
      yield begun;
      while (running.has(viewer.id) || running.size >= maxRunning) {
        await setTimeout(progressEveryMs);
        if (signal.aborted) return;
      }
      running.add(viewer.id);
      try {
        yield* answer(ports, question, signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        yield { percent: 100, found: null, problem: error.kind === 'invalid' ? 'too-many-rows' : 'unavailable' };
      } finally {
        running.delete(viewer.id);
      }
    },
  };
}

const percentOf = (read: number, all: number): number => Math.min(99, Math.floor((read * 100) / all));
