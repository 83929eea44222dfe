import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { BodyRoom, BodySlot, NoRoom } from '../../../../http/body-room.js';

/*
 * Messages on their way in, counted as bodies are: what has come of one, unpacked, counts from its first byte until
 * nothing needs it any more. A message may be cut into frames, and each of them packed, so `ws` is watched from within.
 */

/** What of `ws` is not in its types; a test sends what would go uncounted without it. */
interface Within {
  readonly _receiver: {
    /** Bytes that wait to be read as a frame. */
    readonly _bufferedBytes: number;
    /** Bytes of the message's frames, unpacked. */
    readonly _messageLength: number;
    readonly _extensions: { readonly 'permessage-deflate'?: Unpacking };
  };
}

type Unpacked = (error: Error | null, bytes?: Buffer) => void;

interface Unpacking {
  decompress: (bytes: Buffer, last: boolean, done: Unpacked) => void;
}

interface ReceivingOptions {
  readonly socket: WebSocket;
  /** Under the socket. */
  readonly stream: Duplex;
  readonly room: BodyRoom;
  readonly address: string;
  readonly holder: number;
  /** There is no room for more of a message; `address`: too many are unfinished. No more will come. */
  readonly full: (why: NoRoom | 'address') => void;
  /** `slot`: counts the message until it is left. */
  readonly message: (bytes: Buffer, isBinary: boolean, slot: BodySlot) => void;
}

export class Receiving {
  private slot: BodySlot | null = null;
  private counted = 0;
  private isFull = false;
  /** `performance.now()`; null: no message is unfinished. */
  unfinishedSince: number | null = null;

  constructor(private readonly options: ReceivingOptions) {
    const { socket, stream } = options;
    const { _receiver: receiver } = socket as unknown as Within;
    const unpacking = receiver._extensions['permessage-deflate'];
    if (unpacking !== undefined) this.watch(unpacking, () => receiver._messageLength);
    // Behind the listener of `ws`, which has read the frames by then.
    stream.on('data', () => void this.count(receiver._bufferedBytes + receiver._messageLength));
    socket.on('message', (data: Buffer, isBinary) => this.received(data, isBinary));
  }

  /** Nothing more comes. */
  end(): void {
    this.slot?.leave();
    this.reset();
  }

  private watch(unpacking: Unpacking, before: () => number): void {
    const unpack = unpacking.decompress.bind(unpacking);
    unpacking.decompress = (bytes, last, done) =>
      unpack(bytes, last, (error, unpacked) => {
        const fits = error || this.count(before() + (unpacked?.length ?? 0));
        if (fits) done(error, unpacked);
      });
  }

  private received(bytes: Buffer, isBinary: boolean): void {
    if (!this.count(bytes.length)) return;
    const slot = this.slot ?? this.enter();
    this.reset();
    if (slot === null) return;
    slot.finish();
    this.options.message(bytes, isBinary, slot);
  }

  /** `bytes`: of the message so far. False: there is no room. */
  private count(bytes: number): boolean {
    if (this.isFull) return false;
    if (bytes <= this.counted) return true;
    const slot = this.slot ?? this.enter();
    if (slot === null) return false;
    this.slot = slot;
    this.unfinishedSince ??= performance.now();
    const full = slot.take(bytes - this.counted);
    this.counted = bytes;
    return full === null || this.refuse(full);
  }

  private enter(): BodySlot | null {
    const { room, address, holder } = this.options;
    const slot = room.enter(address, holder);
    if (slot === null) this.refuse('address');
    return slot;
  }

  private refuse(why: NoRoom | 'address'): false {
    this.isFull = true;
    this.end();
    this.options.full(why);
    return false;
  }

  private reset(): void {
    this.slot = null;
    this.counted = 0;
    this.unfinishedSince = null;
  }
}
