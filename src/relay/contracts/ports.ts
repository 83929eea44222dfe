import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { BackgroundCalls } from '../../application/ports/background-call-ports.js';
import type { KeptObjects } from '../../application/ports/kept-object-ports.js';
import type { Clock, Directory, QuotaGate, Vault } from '../../application/ports/storage-ports.js';
import type { StoredResponses } from '../../application/ports/stored-response-ports.js';
import type { Tasks } from '../../application/ports/task-ports.js';
import type { ChannelId, SecretId } from '../../domain/kernel/ids.js';
import type { ApiKeyStatusNotice } from '../admission/authenticate.js';
import type { CallLimits } from '../admission/call-limits.js';
import type { WrongKeys } from '../admission/wrong-keys.js';
import type { JsonObject } from '../json/json.js';
import type { Meter } from '../metering/metered.js';
import type { RefusalTally } from '../pipeline/refusal-tally.js';
import type { LargeWork } from '../text/large-work.js';
import type { AnswerRoom } from '../upstream/answer-room.js';
import type { Pictures } from '../upstream/pictures.js';
import type { Upstream } from '../upstream/upstream.js';
import type { AuthorisationPorts } from './authorisation.js';
import type { Provider } from './protocol.js';
import type { Upload } from './upload.js';

/** What the relay is given. */
export interface RelayPorts {
  readonly directory: Directory;
  readonly gate: Pick<QuotaGate, 'isSpent' | 'isUserSpent'>;
  readonly meter: Meter;
  readonly vault: Pick<Vault, 'hash' | 'get'>;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly pictures: Pictures;
  /** For addresses that providers return: guarded, whatever the operator allows for channels. */
  readonly files: Pick<Upstream, 'send'>;
  readonly authorising: AuthorisationPorts;
  readonly bodies: RequestBodies;
  readonly largeWork: LargeWork;
  readonly answers: AnswerRoom;
  readonly limits: CallLimits;
  readonly wrongKeys: WrongKeys;
  readonly apiKeyStatus: ApiKeyStatusNotice;
  readonly channelHealth: ChannelHealthNotice;
  /** Counts calls that are refused before they are reserved. */
  readonly refusals: Pick<RefusalTally, 'count'>;
  readonly kept: KeptObjects;
  readonly background: BackgroundCalls;
  readonly tasks: Tasks;
  readonly storedResponses: StoredResponses;
  readonly providerOf: (channelType: number) => Provider | null;
  readonly config: RelayConfig;
  readonly log: RelayLog;
}

/**
 * What a body is read from: its bytes as they come, and what its sender says of them. A request over HTTP is one, and so
 * is any other stream of bytes, such as one message of a WebSocket.
 */
export interface BodySource extends Readable {
  readonly headers: Pick<IncomingHttpHeaders, 'content-encoding' | 'content-length' | 'content-type'>;
}

/** A caller's body. It counts as held until it leaves. */
export interface HeldBody {
  /** The fields, where it is a form. */
  readonly value: JsonObject;
  /** As it came, where it is JSON. Left out: it is a form. */
  readonly text?: string;
  /** As it came, unpacked. */
  readonly bytes: number;
  /** null: it is JSON. */
  readonly upload: Upload | null;
  /** The response that it continues, whose items are in it by now. Left out: it continues none that is stored here. */
  readonly continues?: string;
  /** Counts more bytes that are held for it. Throws RelayError: there is no room. Left out: it cannot grow. */
  readonly takeMore?: (bytes: number) => void;
  leave(): void;
}

/** Throws RelayError. `holder`: whose share of the process's memory it takes. `maxBytes`: where it may hold less than others. */
type BodyReader = (source: BodySource, address: string, holder: number, maxBytes?: number) => Promise<HeldBody>;

/** By what an endpoint's bodies are. */
export interface RequestBodies {
  readonly json: BodyReader;
  /** A form whose file is sound. */
  readonly multipartAudio: BodyReader;
  /** JSON, or a form whose files are pictures, as its sender says. */
  readonly jsonOrForm: BodyReader;
}

export interface ChannelHealthNotice {
  /**
   * Live traffic showed that the channel is out of order with this key. Must not throw; the call does not wait for it.
   */
  outOfOrder(channel: ChannelId, key: SecretId, reason: string): void;
}

interface RelayConfig {
  /** Longest silence inside a stream; doubled for models that think before they speak. */
  readonly streamIdleMs: number;
  /** Longest wait for an answer's headers, and for the whole of a JSON answer. */
  readonly answerTimeoutMs: number;
  /** Longest a stream is waited for and read on when its caller has gone. */
  readonly callerGoneMs: number;
  /** How long a caller may take nothing of what is written to it. */
  readonly callerStallMs: number;
  readonly forceUsage: boolean;
  readonly azureDefaultApiVersion: string;
}

export interface RelayLog {
  info(facts: Record<string, unknown>, message: string): void;
  warn(facts: Record<string, unknown>, message: string): void;
  error(facts: Record<string, unknown>, message: string): void;
}
