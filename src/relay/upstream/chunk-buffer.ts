/** So many pieces are put together, whatever they hold. */
const maxCrumbs = 1024;

/**
 * Bytes that come piece by piece and are wanted as one. Whoever sends them may cut them into crumbs, each of which would
 * take a hundred times its length; so those that came last are put together from time to time.
 */
export class ChunkBuffer {
  length = 0;
  private pieces: Buffer[] = [];
  /** The first of these are put together already. */
  private joined = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    this.pieces.push(piece);
    if (this.pieces.length - this.joined < maxCrumbs) return;
    this.pieces.push(Buffer.concat(this.pieces.splice(this.joined)));
    this.joined = this.pieces.length;
  }

  /** Those beyond the first `bytes`, to be looked at. */
  *from(bytes: number): Generator<Buffer, void, undefined> {
    let skipped = 0;
    for (const piece of this.pieces) {
      if (skipped + piece.length > bytes) yield piece.subarray(Math.max(bytes - skipped, 0));
      skipped += piece.length;
    }
  }

  /** All of them, in one; there are none then. A single piece is not copied. */
  take(): Buffer {
    const [first] = this.pieces;
    const all = this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces, this.length);
    this.clear();
    return all;
  }

  clear(): void {
    this.pieces = [];
    this.joined = 0;
    this.length = 0;
  }
}
