import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { beginning, earliestOf, Position } from '../../domain/events/events.js';
import type { Period } from '../../domain/ledger/period.js';
import type { ReadModels } from '../../projections/database.js';
import { LedgerFacts } from '../../projections/models/ledger/ledger-facts.js';
import { type LedgerInTables, ledgerInTables } from '../../projections/models/ledger/verify-ledger.js';
import { booksOf } from '../books/close-period.js';
import { ledgerAsClosed } from '../books/closing-entries.js';
import { closingChecks } from '../books/verify-closings.js';
import type { DetachedLog } from '../ports/archive-ports.js';
import type {
  AuditCheckpoint,
  AuditCheckpoints,
  EventLines,
  PublicSealKey,
  Seal,
  SealKeyStore,
  SealStore,
} from '../ports/seal-ports.js';
import type { EventStore, Vault } from '../ports/storage-ports.js';
import { positionOf, sealDigest } from '../seals/seal.js';
import { beforeFirstSeal, type SealFinding, SealWalk } from '../seals/seal-walk.js';
import { trustedKeys } from '../seals/trusted-keys.js';
import { type LedgerFinding, LedgerWalk } from './ledger-walk.js';
import { type OutOfStep, type StreamFinding, StreamWalk } from './stream-walk.js';

/*
 * One reading of the log that checks seals, streams, outcomes and the ledger. It goes on from where it found everything
 * as it should be the last time, unless it is told to begin at the beginning.
 */

export interface VerifyPorts {
  readonly lines: EventLines;
  readonly seals: Pick<SealStore, 'after' | 'newest' | 'numbered' | 'covering'>;
  readonly keys: Pick<SealKeyStore, 'all'>;
  readonly db: ReadModels;
  readonly checkpoints: AuditCheckpoints;
  readonly outOfStep: OutOfStep;
  readonly vault: Pick<Vault, 'hash'>;
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly detached: Pick<DetachedLog, 'all'>;
}

/** Public keys that the auditor has been given; null: the first of the log counts. */
type GivenKeys = ReadonlySet<string> | null;

interface VerifyOptions {
  /** From the first event on, whatever was checked before. */
  readonly full: boolean;
  readonly given: GivenKeys;
  readonly progress?: (position: number) => void;
}

type AuditFinding =
  | ({ readonly check: 'seals' } & (
      | SealFinding
      | { code: 'key-unknown'; seal: null; first: null; last: null; reason: string }
    ))
  | ({ readonly check: 'streams' } & StreamFinding)
  | ({ readonly check: 'ledger' } & LedgerFinding);

export interface LogVerdict {
  /** Behind which events were read; -1: from the first one. */
  readonly from: number;
  /** Whose books were closed there; null: it was found sound up to there, or is read from the first event. */
  readonly closed: Period | null;
  readonly position: number;
  readonly events: number;
  readonly seals: number;
  /** Events behind the newest seal. */
  readonly unsealed: number;
  readonly accounts: number;
  readonly found: number;
  /** A thousand at most. */
  readonly findings: readonly AuditFinding[];
}

const pageSize = 2_000;
const maxFindings = 1_000;

export async function verifyLog(ports: VerifyPorts, { full, given, progress }: VerifyOptions): Promise<LogVerdict> {
  const { seals, keys, checkpoints } = ports;
  const findings: AuditFinding[] = [];
  let found = 0;
  const find = (finding: AuditFinding): void => {
    found += 1;
    if (findings.length < maxFindings) findings.push(finding);
  };
  const tables = await ledgerInTables(ports.db);
  const from = full ? null : ((await usableCheckpoint(ports, tables, given)) ?? (await newestDetached(ports, tables)));
  const keptSeal = await sealBehindWhich(
    seals,
    earliestOf(...(tables.stands.map(({ position }) => position) as [Position])),
  );
  // Before the keys: those of all seals that are looked at are among them, also where one is replaced in the meantime.
  const newest = await seals.newest();
  const all = await keys.all();
  const { trusted, refused } = trustedKeys(all, given);
  for (const { id } of refused)
    find({
      check: 'seals',
      code: 'key-unknown',
      seal: null,
      first: null,
      last: null,
      reason: `nobody vouches for key ${id}`,
    });
  const sealed = await SealWalk.begin({
    ...{ keys: trusted, from: from === null ? beforeFirstSeal : { ...from, keyNumber: keyNumberOf(all, from) } },
    seals: { after: (number, limit) => seals.after(number, limit), newest: () => Promise.resolve(newest) },
    found: (finding) => find({ check: 'seals', ...finding }),
  });
  const streams = new StreamWalk({
    outOfStep: ports.outOfStep,
    found: (finding) => find({ check: 'streams', ...finding }),
    // The ledger follows every event.
    fromFirst: from === null ? Number(tables.position) : null,
  });
  const ledger = new LedgerWalk({
    ...{ tables, keepAt: keptSeal?.last ?? null },
    from: from === null ? null : { position: from.factsAt, facts: from.facts },
    closings: await closingChecks(ports.store, from?.factsAt ?? beginning),
    found: (finding) => find({ check: 'ledger', ...finding }),
  });

  let events = 0;
  let position: Position = from?.position ?? beginning;
  for await (const page of pagesBehind(ports.lines, position)) {
    for (const line of page) {
      const step = ledger.take(line);
      if (step !== null) streams.take(step);
    }
    await sealed.take(page);
    await streams.settle();
    events += page.length;
    position = Position(positionOf(page.at(-1) ?? ''));
    progress?.(Number(position));
  }
  ledger.end();
  const { seals: checked, unsealed } = await sealed.end();
  if (found === 0 && keptSeal !== null && ledger.state !== null)
    await checkpoints.keep(
      signed(ports, { number: keptSeal.number, digest: sealDigest(keptSeal), ...ledger.state }, given),
    );
  const { accounts } = tables;
  return {
    ...{
      from: Number(from?.position ?? beginning),
      closed: from?.closed ?? null,
      position: Number(position),
      events,
      seals: checked,
      unsealed,
    },
    ...{ accounts, found, findings },
  };
}

/**
 * The newest seal that covers nothing behind `position`, where the tables of the ledger are: they never go back, so the
 * next verification can go on from its end.
 */
async function sealBehindWhich(
  seals: Pick<SealStore, 'newest' | 'numbered' | 'covering'>,
  position: Position,
): Promise<Seal | null> {
  const newest = await seals.newest();
  if (newest === null || newest.last <= position) return newest;
  const covering = await seals.covering(position);
  if (covering === null || covering.last === position) return covering;
  return seals.numbered(covering.number - 1);
}

/** The next page is on its way while one is looked at. */
async function* pagesBehind(lines: EventLines, from: Position): AsyncGenerator<readonly string[], void, undefined> {
  const ahead = (after: Position) => {
    const page = lines.after(after, pageSize);
    // Whether it fails is looked at in its turn.
    page.catch(() => {});
    return page;
  };
  for (let coming = ahead(from); ; ) {
    const page = await coming;
    const last = page.at(-1);
    if (last === undefined) return;
    coming = ahead(Position(positionOf(last)));
    // So that it is asked for before the page is looked at, which keeps this thread.
    await turn();
    yield page;
  }
}

type CheckpointContent = Omit<AuditCheckpoint, 'mac'>;

const contentHash = ({ number, digest, position, facts }: CheckpointContent, given: GivenKeys): string =>
  createHash('sha256')
    .update(JSON.stringify([number, digest, Number(position), facts, ...(given === null ? [] : [[...given].sort()])]))
    .digest('hex');

/** Nobody who has the database alone can say that something was checked, nor under which keys. */
const macOf = ({ vault }: Pick<VerifyPorts, 'vault'>, content: CheckpointContent, given: GivenKeys): string =>
  vault.hash(`audit checkpoint ${contentHash(content, given)}`);

const signed = (ports: Pick<VerifyPorts, 'vault'>, content: CheckpointContent, given: GivenKeys): AuditCheckpoint => ({
  ...content,
  mac: macOf(ports, content, given),
});

/** With the key of its seal, which the digest covers. */
interface UsableCheckpoint extends Pick<AuditCheckpoint, 'number' | 'digest' | 'position'> {
  readonly keyId: string;
  readonly facts: LedgerFacts;
  /** What the facts are of: there, or at the closing a little behind. */
  readonly factsAt: Position;
  /** Whose books were closed there; null: everything was found sound up to there. */
  readonly closed: Period | null;
}

/** The newest key up to there: all was sound, so later seals have no earlier one. */
const keyNumberOf = (keys: readonly PublicSealKey[], { keyId }: UsableCheckpoint): number =>
  keys.find(({ id }) => id === keyId)?.number ?? 0;

/** null: there is none, it is not ours, of an earlier release or of other keys, its seal is not in the log any more, or the tables are behind it. */
async function usableCheckpoint(
  ports: VerifyPorts,
  tables: LedgerInTables,
  given: GivenKeys,
): Promise<UsableCheckpoint | null> {
  const kept = await ports.checkpoints.newest();
  if (kept === null || macOf(ports, kept, given) !== kept.mac) return null;
  const seal = await ports.seals.numbered(kept.number);
  if (seal === null || sealDigest(seal) !== kept.digest || seal.last !== kept.position) return null;
  const facts = LedgerFacts.restored(kept.facts);
  if (facts === null || tables.stands.some(({ position }) => position < kept.position)) return null;
  return { ...kept, facts, keyId: seal.keyId, factsAt: kept.position, closed: null };
}

/** Where the log begins that is not in archives only; null: it is whole. Throws ClosingDamaged. */
async function newestDetached(ports: VerifyPorts, tables: LedgerInTables): Promise<UsableCheckpoint | null> {
  const newest = (await ports.detached.all()).at(-1);
  if (newest === undefined) return null;
  const { closed } = await booksOf(ports.store);
  const place = closed.findIndex(({ period }) => period === newest.period);
  const [closing, seal] = [closed[place], await ports.seals.covering(newest.last)];
  if (closing === undefined || seal === null || seal.last !== newest.last) return null;
  if (tables.stands.some(({ position }) => position < closing.position)) return null;
  const facts = await ledgerAsClosed(ports.store, closed.slice(0, place + 1));
  return {
    ...{ number: seal.number, digest: sealDigest(seal), position: seal.last, keyId: seal.keyId },
    ...{ facts, factsAt: closing.position, closed: closing.period },
  };
}
