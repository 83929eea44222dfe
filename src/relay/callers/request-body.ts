import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { BodyPlace, BodyRoom, NoRoom } from '../../http/body-room.js';
import { RelayError } from '../errors.js';
import type { LargeWork } from '../large-work.js';
import type { RequestBodies } from '../ports.js';
import { isObject, type JsonObject, parseJson } from '../protocols/json.js';
import { JsonShape, type ShapeExcess } from '../protocols/json-shape.js';

/*
 * A caller's body, read from the connection once its caller is known. It is unpacked while it comes and given up at the
 * first excess: of size, of what it swells to, of its shape, or of what the process can hold.
 */

/** JSON with much repetition shrinks to a fortieth. Judged beyond the first mebibyte. */
const mostSwelling = 100;
const swellingJudgedFrom = 1024 * 1024;
/** Deep enough for the schema of any tool; whatever walks over a body is safe at it. */
const deepest = 128;
/** Names, values and brackets: three times the token ids that the largest embedding request may hold. */
const mostParts = 1_000_000;
/** What a piece takes here, however short it is: a caller may cut its body into crumbs. */
const leastTaken = 64;
const retryAfterSeconds = '1';

const unpackers: ReadonlyMap<string, () => Duplex> = new Map(
  Object.entries({ gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }),
);

const invalid = (message: string): RelayError => new RelayError(400, 'invalid_request', `invalid request: ${message}`);

const unreadable = (message: string): RelayError => new RelayError(413, 'read_request_body_failed', message);

const misshapen: Readonly<Record<ShapeExcess, string>> = {
  'too-deep': `the body is nested more than ${deepest} deep`,
  'too-many-parts': `the body holds more than ${mostParts} names and values`,
};

const noRoom = (why: NoRoom | 'address'): RelayError => {
  const [status, code, message] =
    why === 'process'
      ? ([503, 'request_bodies_exhausted', 'the gateway holds as many request bodies as it can'] as const)
      : ([429, 'too_many_request_bodies', 'too many large or unfinished requests of yours at once'] as const);
  return new RelayError(status, code, `${message}; try again shortly`, undefined, '', retryAfterSeconds);
};

/** null: it comes as it is. */
function encodingOf({ headers }: IncomingMessage): string | null {
  const encoding = headers['content-encoding']?.toLowerCase();
  return encoding === undefined || encoding === 'identity' ? null : encoding;
}

function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw invalid('the body is not a JSON object');
  return value;
}

/** `maxBytes`: of a body as sent, and unpacked. */
export function requestBodies(room: BodyRoom, largeWork: LargeWork, maxBytes: number): RequestBodies {
  const tooLarge = (): RelayError => unreadable(`the request body is larger than ${maxBytes} bytes`);

  return {
    async read(request, address, holder) {
      const encoding = encodingOf(request);
      if (encoding !== null && !unpackers.has(encoding)) throw invalid(`content-encoding ${encoding} is not supported`);
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
      const place = room.enter(address, holder);
      if (place === null) throw noRoom('address');
      try {
        const { texts, bytes } = await new Promise<Read>((resolve, reject) => {
          new Reading(request, encoding, maxBytes, tooLarge, place, resolve, reject).start();
        });
        place.finish();
        const value = await largeWork.run(bytes, () =>
          objectIn(texts.length === 1 ? (texts[0] ?? '') : texts.join('')),
        );
        return { value, bytes, leave: place.leave };
      } catch (error) {
        place.leave();
        throw error;
      }
    },
  };
}

interface Read {
  /** To be put together. */
  readonly texts: readonly string[];
  readonly bytes: number;
}

/** One body on its way in. On events: an iterator over the connection would cost every call more than its parsing. */
class Reading {
  /** Decoded while they come: a large body decoded as a whole would hold up everybody, and be in memory twice. */
  private readonly texts: string[] = [];
  /** Most bodies come in one piece, and need none. */
  private decoder: StringDecoder | null = null;
  private first: Buffer | null = null;
  private readonly shape = new JsonShape({ depth: deepest, parts: mostParts });
  private readonly unpacker: Duplex | null;
  private received = 0;
  private unpacked = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly encoding: string | null,
    private readonly maxBytes: number,
    private readonly tooLarge: () => RelayError,
    private readonly place: BodyPlace,
    private readonly resolve: (read: Read) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.unpacker = encoding === null ? null : (unpackers.get(encoding)?.() ?? null);
  }

  start(): void {
    const { request, unpacker } = this;
    // Gone while its key was looked up: nothing more will be told about it.
    if (request.destroyed) {
      this.onClose();
      return;
    }
    request.once('close', this.onClose);
    request.once('error', this.onClose);
    if (unpacker === null) {
      request.on('data', this.onPiece);
      request.once('end', this.onEnd);
      return;
    }
    request.on('data', this.onReceived);
    unpacker.on('data', this.onPiece);
    unpacker.once('end', this.onEnd);
    unpacker.on('error', this.onNotPacked);
    request.pipe(unpacker);
  }

  private readonly onReceived = (piece: Buffer): void => {
    this.received += piece.length;
    if (this.received > this.maxBytes) this.fail(this.tooLarge());
  };

  private readonly onPiece = (piece: Buffer): void => {
    this.unpacked += piece.length;
    const wrong = this.excess(piece);
    if (wrong !== null) this.fail(wrong);
    else if (this.unpacked === piece.length) this.first = piece;
    else this.decode(piece);
  };

  private decode(piece: Buffer): void {
    this.decoder ??= new StringDecoder('utf8');
    if (this.first !== null) this.texts.push(this.decoder.write(this.first));
    this.first = null;
    this.texts.push(this.decoder.write(piece));
  }

  /** What is too much with this piece; null: nothing, and its bytes are counted as held. */
  private excess(piece: Buffer): RelayError | null {
    if (this.unpacked > this.maxBytes) return this.tooLarge();
    if (this.unpacker !== null && this.unpacked > Math.max(swellingJudgedFrom, this.received * mostSwelling))
      return unreadable(`the request body swells to more than ${mostSwelling} times its size`);
    const full = this.place.take(Math.max(piece.length, leastTaken));
    if (full !== null) return noRoom(full);
    const misshape = this.shape.take(piece);
    return misshape === null ? null : invalid(misshapen[misshape]);
  }

  private readonly onEnd = (): void => {
    this.detach();
    const rest = this.decoder === null ? (this.first?.toString() ?? '') : this.decoder.end();
    if (rest !== '') this.texts.push(rest);
    this.resolve({ texts: this.texts, bytes: this.unpacked });
  };

  private readonly onNotPacked = (): void => this.fail(invalid(`the body is not valid ${this.encoding}`));

  /** The caller left inside its body, or the server ended a connection that was too slow. */
  private readonly onClose = (): void => {
    if (!this.request.readableEnded) this.fail(invalid('it cannot be read'));
  };

  private fail(error: RelayError): void {
    this.detach();
    this.request.pause();
    this.reject(error);
  }

  private detach(): void {
    const { request, unpacker } = this;
    request.off('close', this.onClose);
    request.off('error', this.onClose);
    request.off('data', this.onPiece);
    request.off('data', this.onReceived);
    request.off('end', this.onEnd);
    if (unpacker === null) return;
    request.unpipe(unpacker);
    unpacker.off('data', this.onPiece);
    unpacker.off('end', this.onEnd);
    // What is under way inside it may still fail; nobody is interested any more.
    unpacker.destroy();
  }
}
