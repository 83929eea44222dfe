import { unpackers } from '../../http/content-codings.js';

/*
 * Answers are asked for plain. Some upstreams, or proxies before them, compress nevertheless: that is undone, bounded by
 * what the reader takes and by how much may come out of how little.
 */

export interface ContentDecoder {
  /** False: no more until `onDrained`. */
  write(piece: Buffer): boolean;
  end(): void;
  resume(): void;
  destroy(): void;
}

interface DecoderEvents {
  /** True: no more until `resume`. */
  readonly onPiece: (piece: Buffer) => boolean;
  readonly onDrained: () => void;
  readonly onEnd: () => void;
  readonly onError: (message: string) => void;
}

/** Texts shrink to a twentieth; what grows more than this is made to fill memories. */
const maxRatio = 200;
/** A short text of one letter is no attack. */
const unsuspicious = 1024 * 1024;

/** null: nothing to undo. An unknown coding is an error at once. */
export function contentDecoder(coding: string, events: DecoderEvents): ContentDecoder | null {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return null;
  const open = unpackers.get(name);
  if (open === undefined) {
    events.onError('the upstream answered in an encoding that was not asked for');
    return null;
  }
  const decoder = open();
  let came = 0;
  let made = 0;
  decoder.on('data', (piece: Buffer) => {
    made += piece.length;
    if (made > unsuspicious && made > came * maxRatio) {
      decoder.destroy();
      events.onError('the upstream answer is packed too tightly');
    } else if (events.onPiece(piece)) decoder.pause();
  });
  decoder.on('drain', events.onDrained);
  decoder.on('end', events.onEnd);
  decoder.on('error', () => events.onError(`the upstream answer is not valid ${name}`));
  return {
    write(piece) {
      came += piece.length;
      return decoder.write(piece);
    },
    end: () => void decoder.end(),
    resume: () => {
      if (decoder.isPaused()) decoder.resume();
    },
    destroy: () => void decoder.destroy(),
  };
}
