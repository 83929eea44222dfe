import { urlIn } from '../../domain/kernel/address.js';
import { noContent } from '../upstream/request-content.js';
import type { Upstream } from '../upstream/upstream.js';
import type { CallerConnection } from './caller-connection.js';
import { passBody } from './pass-body.js';
import type { StalledCallers } from './stalled-callers.js';

/*
 * A file that a provider has put somewhere, passed on as it comes. No redirect is followed, and neither its length nor
 * the time it takes is up to who serves it.
 */

export interface FileRules {
  /** Media types that are passed on, without parameters. */
  readonly types: RegExp;
  /** Of a file that names none. */
  readonly usualType: string;
  readonly maxBytes: number;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  /** The longest silence, in milliseconds. */
  readonly idleMs: number;
  /** Names and values in turn, beside those of every answer. */
  readonly headers: readonly string[];
}

/** Why nothing was passed on. `status`: as it was answered; null: it was not, or with something else. */
export interface FileFailure {
  readonly reason: 'unreached' | 'refused' | 'wrong-type' | 'too-large';
  readonly status: number | null;
}

interface FilePorts {
  /** Guarded. */
  readonly files: Pick<Upstream, 'send'>;
  readonly stalledCallers: StalledCallers;
}

interface FileRequest {
  readonly url: string;
  /** Whose share of the host it takes. */
  readonly payer: number;
  /** Only type and length are asked for. */
  readonly headOnly?: boolean;
}

const failure = (reason: FileFailure['reason'], status: number | null = null): FileFailure => ({ reason, status });

/** null: it has been passed on, or broken off where that could be seen only later. */
export async function passFile(
  { files, stalledCallers }: FilePorts,
  connection: CallerConnection,
  { url, payer, headOnly = false }: FileRequest,
  { types, usualType, maxBytes, timeoutMs, idleMs, headers }: FileRules,
): Promise<FileFailure | null> {
  const address = urlIn(url);
  if (address === null || !/^https?:$/.test(address.protocol)) return failure('unreached');
  const call = { method: 'GET', url, headers: {}, content: noContent } as const;
  const sending = files.send(call, { proxy: null, timeoutMs, idleMs, payer });
  const forget = connection.whenGone(() => sending.cancel());
  try {
    const sent = await sending.sent;
    if (!sent.ok) return failure('unreached');
    const { status, headers: answered, body } = sent.answer;
    if (status !== 200) return failure('refused', status);
    const [type = ''] = (answered['content-type'] ?? usualType).toLowerCase().split(';', 1);
    if (!types.test(type.trim())) return failure('wrong-type');
    const length = answered['content-encoding'] === undefined ? Number(answered['content-length']) : Number.NaN;
    if (length > maxBytes) return failure('too-large');
    const stated = Number.isSafeInteger(length) ? length : undefined;
    connection.begin(type.trim(), headers, stated);
    if (headOnly) connection.end();
    else await passBody(connection, body, { length: stated, maxBytes }, stalledCallers);
    return null;
  } finally {
    forget();
    sending.cancel();
  }
}
