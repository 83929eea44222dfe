import type { Seal, SealStore } from '../ports/seal-ports.js';

const pageSize = 1_000;

/** Those with a number above `after`, up to the newest there is now: none that is made while somebody reads. */
export async function* sealsInOrder(
  seals: Pick<SealStore, 'after' | 'newest'>,
  after = -1,
): AsyncGenerator<Seal, void, undefined> {
  const newest = (await seals.newest())?.number ?? -1;
  for (let number = after; number < newest; ) {
    const page = await seals.after(number, pageSize);
    if (page.length === 0) return;
    for (const seal of page) if (seal.number <= newest) yield seal;
    number = page.at(-1)?.number ?? newest;
  }
}
