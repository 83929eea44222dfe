import type { Duplex } from 'node:stream';
import type { BodyRoom, BodySlot, NoRoom } from '../../http/body-room.js';
import { unpackers } from '../../http/content-codings.js';
import { RelayError } from '../contracts/errors.js';
import type { BodySource, HeldBody, RequestBodies } from '../contracts/ports.js';
import type { SoundLength, SoundLengths } from '../sound/sound-length.js';
import type { LargeWork } from '../text/large-work.js';
import type { FormFile } from '../upstream/request-content.js';
import { type BodySink, invalidBody } from './body-sink.js';
import { FormBody } from './form-body.js';
import { JsonBody } from './json-body.js';

/*
 * A caller's body, read from the connection once its caller is known. It is unpacked while it comes and given up at the
 * first excess: of size, of what it swells to, of its shape, or of what the process can hold.
 */

/** JSON with much repetition shrinks to a fortieth. Judged beyond the first mebibyte. */
const maxSwelling = 100;
const swellingJudgedFrom = 1024 * 1024;
/** What a piece takes here, however short it is: a caller may cut its body into crumbs. */
const minTaken = 64;
const retryAfterSeconds = '1';

const unreadable = (message: string): RelayError => new RelayError(413, 'read_request_body_failed', message);

const noRoom = (why: NoRoom | 'address'): RelayError => {
  const [status, code, message] =
    why === 'process'
      ? ([503, 'request_bodies_exhausted', 'the gateway holds as many request bodies as it can'] as const)
      : ([429, 'too_many_request_bodies', 'too many large or unfinished requests of yours at once'] as const);
  return new RelayError(status, code, `${message}; try again shortly`, { retryAfter: retryAfterSeconds });
};

/** null: it comes as it is. */
function encodingOf({ headers }: BodySource): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  return encoding === undefined || encoding === '' || encoding === 'identity' ? null : encoding;
}

const isForm = ({ headers }: BodySource): boolean => /^\s*multipart\//i.test(headers['content-type'] ?? '');

/** `maxBytes`: of a body as sent, and unpacked. */
export function requestBodies(
  room: BodyRoom,
  largeWork: LargeWork,
  soundLengths: SoundLengths,
  maxBytes: number,
): RequestBodies {
  const tooLarge = (max: number): RelayError => unreadable(`the request body is larger than ${max} bytes`);

  const enter = (source: BodySource, address: string, holder: number, max: number): BodySlot => {
    const encoding = encodingOf(source);
    if (encoding !== null && !unpackers.has(encoding))
      throw invalidBody(`content-encoding ${encoding} is not supported; use ${[...unpackers.keys()].join(', ')}`);
    if (Number(source.headers['content-length'] ?? 0) > max) throw tooLarge(max);
    const slot = room.enter(address, holder);
    if (slot === null) throw noRoom('address');
    return slot;
  };

  const takeMore = (slot: BodySlot) => (bytes: number) => {
    const full = slot.take(bytes);
    if (full !== null) throw noRoom(full);
  };

  /** Resolves with the bytes that came, unpacked. */
  const receive = (source: BodySource, slot: BodySlot, sink: BodySink, max: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const refused = (): RelayError => tooLarge(max);
      const encoding = encodingOf(source);
      new Receiving({ source, encoding, maxBytes: max, tooLarge: refused, slot, sink }, resolve, reject).start();
    });

  const json: RequestBodies['json'] = async (source, address, holder, ownMaxBytes = maxBytes) => {
    const max = Math.min(ownMaxBytes, maxBytes);
    const slot = enter(source, address, holder, max);
    try {
      const body = new JsonBody();
      const bytes = await receive(source, slot, body, max);
      slot.finish();
      const { text, value } = await largeWork.runSteps(bytes, () => body.read());
      return { value, text, bytes, upload: null, takeMore: takeMore(slot), leave: slot.leave };
    } catch (error) {
      slot.leave();
      throw error;
    }
  };

  const form = async (
    source: BodySource,
    address: string,
    holder: number,
    lengthOf: (files: readonly FormFile[]) => Promise<SoundLength | null>,
  ): Promise<HeldBody> => {
    const form = new FormBody(source.headers['content-type']);
    const slot = enter(source, address, holder, maxBytes);
    try {
      const bytes = await receive(source, slot, form, maxBytes);
      slot.finish();
      const { fields, files } = await form.read();
      return { value: fields, bytes, upload: { files, length: await lengthOf(files) }, leave: slot.leave };
    } catch (error) {
      slot.leave();
      throw error;
    } finally {
      form.close();
    }
  };

  return {
    json,
    multipartAudio: (source, address, holder) =>
      form(source, address, holder, async ([file, another]) => {
        const full = soundLengths.noRoomFor(holder);
        if (full !== null) throw noRoom(full);
        return file === undefined || another !== undefined ? null : soundLengths.of(file.bytes, holder);
      }),
    jsonOrForm: (source, address, holder, ownMaxBytes) =>
      isForm(source) ? form(source, address, holder, async () => null) : json(source, address, holder, ownMaxBytes),
  };
}

interface ToReceive {
  readonly source: BodySource;
  /** null: it is not packed. */
  readonly encoding: string | null;
  /** Of it as it comes, and unpacked. */
  readonly maxBytes: number;
  readonly tooLarge: () => RelayError;
  readonly slot: BodySlot;
  readonly sink: BodySink;
}

/** One body on its way in. On events: an iterator over the connection would cost every call more than its parsing. */
class Receiving {
  private readonly source: BodySource;
  private readonly encoding: string | null;
  private readonly maxBytes: number;
  private readonly tooLarge: () => RelayError;
  private readonly slot: BodySlot;
  private readonly sink: BodySink;
  private readonly unpacker: Duplex | null;
  private received = 0;
  private unpacked = 0;

  constructor(
    { source, encoding, maxBytes, tooLarge, slot, sink }: ToReceive,
    private readonly resolve: (bytes: number) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.source = source;
    this.encoding = encoding;
    this.maxBytes = maxBytes;
    this.tooLarge = tooLarge;
    this.slot = slot;
    this.sink = sink;
    this.unpacker = encoding === null ? null : (unpackers.get(encoding)?.() ?? null);
  }

  start(): void {
    const { source, unpacker } = this;
    // Gone while its key was looked up: no more events of it will come.
    if (source.destroyed) {
      this.onClose();
      return;
    }
    source.once('close', this.onClose);
    source.once('error', this.onClose);
    if (unpacker === null) {
      source.on('data', this.onPiece);
      source.once('end', this.onEnd);
      return;
    }
    source.on('data', this.onReceived);
    unpacker.on('data', this.onPiece);
    unpacker.once('end', this.onEnd);
    unpacker.on('error', this.onNotPacked);
    source.pipe(unpacker);
  }

  private readonly onReceived = (piece: Buffer): void => {
    this.received += piece.length;
    if (this.received > this.maxBytes) this.fail(this.tooLarge());
  };

  private readonly onPiece = (piece: Buffer): void => {
    this.unpacked += piece.length;
    const wrong = this.excess(piece) ?? this.sink.take(piece);
    if (wrong !== null) this.fail(wrong);
  };

  /** What is too much with this piece; null: nothing, and its bytes are counted as held. */
  private excess(piece: Buffer): RelayError | null {
    if (this.unpacked > this.maxBytes) return this.tooLarge();
    if (this.unpacker !== null && this.unpacked > Math.max(swellingJudgedFrom, this.received * maxSwelling))
      return unreadable(`the request body swells to more than ${maxSwelling} times its size`);
    const full = this.slot.take(Math.max(piece.length, minTaken));
    return full === null ? null : noRoom(full);
  }

  private readonly onEnd = (): void => {
    this.detach();
    this.resolve(this.unpacked);
  };

  private readonly onNotPacked = (): void => this.fail(invalidBody(`the body is not valid ${this.encoding}`));

  /** The caller left inside its body, or the server ended a connection that was too slow. */
  private readonly onClose = (): void => {
    if (!this.source.readableEnded) this.fail(invalidBody('it cannot be read'));
  };

  private fail(error: RelayError): void {
    this.detach();
    this.source.pause();
    this.reject(error);
  }

  private detach(): void {
    const { source, unpacker } = this;
    source.off('close', this.onClose);
    source.off('error', this.onClose);
    source.off('data', this.onPiece);
    source.off('data', this.onReceived);
    source.off('end', this.onEnd);
    if (unpacker === null) return;
    source.unpipe(unpacker);
    unpacker.off('data', this.onPiece);
    unpacker.off('end', this.onEnd);
    // What is under way inside it may still fail; nobody is interested any more.
    unpacker.destroy();
  }
}
