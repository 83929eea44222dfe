import { randomBytes } from 'node:crypto';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { RedemptionId, type SecretId } from '../../domain/kernel/ids.js';
import {
  checkRedemptionCount,
  checkRedemptionName,
  type Redemption,
  type RedemptionCommand,
  type RedemptionEvent,
  type RedemptionTerms,
  redemptionDecider,
  redemptionQuota,
} from '../../domain/payment/redemption.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore, Repeatable } from '../idempotency.js';
import { inParallel } from '../in-parallel.js';
import type { Ids, Vault } from '../ports/storage-ports.js';

/* New redemption codes, many at a time. */

export interface IssueCodesPorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly once: IdempotencyStore;
}

export interface RedemptionInput {
  readonly name: string;
  readonly quota: number;
}

interface IssuedCode {
  readonly id: RedemptionId;
  readonly code: string;
}

/** What has become of a batch. */
interface IssuedCodes {
  /** Those there are now. */
  readonly codes: readonly IssuedCode[];
  /** Of the last of them. */
  readonly position: Position;
  /** Why the others are missing; null: there are none. The same order, given again, makes them. */
  readonly failure: Failure | null;
}

interface CodeBatch extends RedemptionInput {
  readonly count: number;
  /** The client's name for this order; a repeat answers with the same codes, and makes those that are missing. */
  readonly key: string | null;
}

const codeBytes = 16;

/** Up to a hundred codes with one name and worth. Throws where there is none. */
export async function issueCodes(
  ports: IssueCodesPorts,
  actor: Actor,
  { name, quota, count, key }: CodeBatch,
): Promise<IssuedCodes> {
  authorise(actor, 'admin');
  checkRedemptionName(name);
  checkRedemptionCount(count);
  const terms = { name, quota: redemptionQuota(quota) };
  const content = JSON.stringify(['issue redemption codes', terms, count]);
  const made: (IssuedCode & { position: Position })[] = [];
  let failure: Failure | null = null;
  try {
    await ports.once({ actor: actor.id, key, content }, (order) =>
      inParallel([...Array(count).keys()], async (index) => {
        made.push(await issueCode(ports, actor, { terms, order, index }));
      }),
    );
  } catch (error) {
    if (made.length === 0 || !(error instanceof Failure)) throw error;
    failure = error;
  }
  made.sort((a, b) => a.id - b.id);
  const position = latestOf(made.map((code) => code.position));
  return { codes: made.map(({ id, code }) => ({ id, code })), position, failure };
}

interface CodeOfBatch {
  readonly terms: RedemptionTerms;
  readonly order: Repeatable;
  /** In the batch, from 0. */
  readonly index: number;
}

/** One code of a batch; a repeat finds what the order has led to before. */
async function issueCode(
  { handle, ids, vault }: IssueCodesPorts,
  actor: Actor,
  { terms, order, index }: CodeOfBatch,
): Promise<IssuedCode & { position: Position }> {
  const id = RedemptionId(await ids.allotted('redemption', `${order.name} ${index}`));
  const code = randomBytes(codeBytes).toString('hex');
  let secret = null as SecretId | null;
  /** Not asked of a repeat: it leaves nothing in the vault. */
  const issuing = async (): Promise<RedemptionCommand> => {
    secret ??= await vault.put(code);
    const { name, quota } = terms;
    return { type: 'IssueRedemptionCode', codeHash: vault.hash(code), secret, name, quota, by: actor.id };
  };
  const stream = streams.redemption(id);
  const { events, position } = await handle.by(actor)<Redemption, RedemptionCommand, RedemptionEvent>(
    redemptionDecider,
    stream,
    issuing,
    order.mark(stream),
  );
  const [issued] = events;
  if (issued?.type !== 'RedemptionCodeIssued' || issued.secret === secret) return { id, code, position };
  if (secret !== null) await vault.drop([secret]);
  const before = await vault.get(issued.secret);
  if (before === null) throw new Failure('redemption-not-found');
  return { id, code: before, position };
}
