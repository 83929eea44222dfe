import { beginning, isCallStream, type Position, streamKey } from '../../../src/domain/events/events.js';
import { recomputedCharge } from '../recomputed-charge.js';
import type { TestGateway } from './test-gateway.js';

/** What the receipts of all calls of a gateway say, and which of them do not give what was charged. */
interface ReceiptsOfAll {
  readonly served: number;
  readonly refunded: number;
  readonly wrong: readonly string[];
}

async function reservedCalls({ store }: TestGateway): Promise<readonly string[]> {
  const calls: string[] = [];
  for (let after: Position = beginning; ; ) {
    const page = await store.readAll(after, 1_000);
    const last = page.at(-1);
    if (last === undefined) return calls;
    for (const { event, stream } of page)
      if (event.type === 'CallReserved' && isCallStream(stream)) calls.push(streamKey(stream));
    after = last.position;
  }
}

/** Recomputes the charge of each call from its receipt. */
export async function receiptsOfAll(gateway: TestGateway): Promise<ReceiptsOfAll> {
  const { application, root } = gateway;
  const wrong: string[] = [];
  let served = 0;
  let refunded = 0;
  for (const id of await reservedCalls(gateway)) {
    const receipt = await application.queries.receipt(root, id);
    const { charged = 0, uncovered = 0 } = receipt?.outcome ?? {};
    const corrections = receipt?.corrections ?? [];
    const isPaid = receipt?.paid === (corrections.at(-1)?.charged ?? charged) - (receipt?.refund?.quota ?? 0);
    // By its own price, as the charge itself.
    const isCorrected = corrections.every(
      (correction) =>
        recomputedCharge(JSON.stringify({ ...receipt, price: correction.price })) ===
        correction.charged + correction.uncovered,
    );
    const { source, claimed } = receipt?.usage ?? {};
    const isClaimTold = (source === 'disbelieved') === (claimed !== null && claimed !== undefined);
    const hasLines = receipt?.events.every(({ hash }) => hash !== null) === true;
    if (
      !isPaid ||
      !isCorrected ||
      !hasLines ||
      !isClaimTold ||
      recomputedCharge(JSON.stringify(receipt)) !== charged + uncovered
    )
      wrong.push(id);
    if (receipt?.usage) served += 1;
    if (receipt?.refund) refunded += 1;
  }
  return { served, refunded, wrong };
}
