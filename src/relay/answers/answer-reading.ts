import type { Usage } from '../../domain/call/usage.js';
import type {
  AnswerStream,
  CallerRequest,
  CallInfo,
  FailedAnswer,
  Generated,
  Provider,
  StreamStep,
  UpstreamChannel,
} from '../contracts/protocol.js';
import type { TwoWaySocket } from '../contracts/two-way.js';
import type { JsonObject } from '../json/json.js';
import type { LargeWork } from '../text/large-work.js';
import type { AnswerSlot } from '../upstream/answer-room.js';
import type { Picture } from '../upstream/pictures.js';
import type { SoundReading } from '../upstream/sound-answer.js';
import type { Sending, UpstreamBody } from '../upstream/upstream.js';
import type { UpstreamError } from '../upstream/upstream-error.js';

/* What is to be read of an upstream's answer, and what came of it. */

export type Got =
  | {
      readonly kind: 'answer';
      readonly bytes: Buffer;
      /** Where they are no JSON. */
      readonly textType?: string | undefined;
      readonly usage: Usage | null;
      readonly generated: Generated;
    }
  | { readonly kind: 'sound'; readonly reading: SoundReading }
  | { readonly kind: 'stream'; readonly reading: StreamReading }
  | {
      readonly kind: 'conversation';
      readonly socket: TwoWaySocket;
      /** What an event says that reports a failure, fit to be shown. */
      readonly failureIn: (event: JsonObject) => UpstreamError;
    };

export type FirstStep = Pick<StreamStep, 'bytes' | 'finished'>;

/** A stream after its first frame. */
export interface StreamReading {
  readonly decoder: AnswerStream;
  readonly chunks: Pick<UpstreamBody, 'next'>;
  /** Until `takeFirst`. */
  first: FirstStep;
  /** Counts what is kept of it. */
  readonly slot: Pick<AnswerSlot, 'hold'>;
  /** Ends the upstream connection. */
  readonly cancel: () => void;
  /** Upstream leaves it to us to end the connection after the answer. */
  readonly staysOpen: boolean;
}

export type Read =
  | { readonly ok: true; readonly got: Got }
  /** `costUnknown`: upstream may have done the work although nothing of it can be used. */
  | (Pick<FailedAnswer, 'ok' | 'error' | 'later' | 'orderFailed'> & { readonly costUnknown: boolean });

export interface SilenceLimits {
  readonly idleMs: number;
  readonly unseenMs: number;
}

export interface AnswerToRead {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  /** See UpstreamRequest. */
  readonly gathers?: boolean | undefined;
  readonly streamsLines?: boolean | undefined;
  readonly info: CallInfo;
  /** See StreamInput. */
  readonly comesAsSound?: boolean;
  readonly sending: Pick<Sending, 'begun' | 'follow' | 'cancel'>;
  /** Longest silence inside a stream, and inside what upstream works at unseen, in milliseconds. */
  readonly patience: SilenceLimits;
  readonly largeWork: LargeWork;
  /** Longest whole answer. */
  readonly maxBytes: number;
  /** Counts what is held of the answer; whoever asked lets it go. */
  readonly slot: AnswerSlot;
  /** A picture that upstream names by its address; null: it cannot be had. */
  readonly fetchPicture: (address: string) => Promise<Picture | null>;
}
