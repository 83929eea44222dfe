/* A long text as the bytes that are sent, encoded piece by piece: as a whole it would hold up everybody. */

/** Characters of a piece, about. */
const pieceLength = 256 * 1024;
/** Up to here a text is left to the client. */
export const encodedFrom = pieceLength;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Together they are the text in UTF-8. Yields after each piece. */
export function* encodedPieces(text: string): Generator<void, readonly Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + pieceLength, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
    pieces.push(Buffer.from(text.slice(at, end)));
    at = end;
    yield;
  }
  return pieces;
}
