import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import { upstreamJson } from '../json/upstream-json.js';
import { type Confidential, withoutSecrets } from './confidential.js';

/** An upstream's refusal in one shape, fit to be shown: no key, address or foreign HTML is left in it, and it is short. */
export interface UpstreamError {
  /** As upstream answered, before any mapping; for a failure inside a 200 or a stream the status it should have had. */
  readonly status: number;
  readonly message: string;
  readonly type: string;
  /** null: the provider has such a field and left it empty. */
  readonly code: string | null;
  readonly param: string | null;
  /** The Retry-After header, seconds or a date; null: none. */
  readonly retryAfter: string | null;
  /** The refusal in the words of the dialect that its caller speaks as well: it gets it as it is. Left out: it is none. */
  readonly passedOn?: JsonObject;
  /** Upstream says itself that it has nothing left to serve with. Left out: it does not. */
  readonly outOfOrder?: true;
}

/** A failure as a body reports it; null members were not reported. */
export interface ReportedFailure {
  readonly message: string | null;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
}

const defaultType = 'upstream_error';
const defaultCode = 'bad_response_status_code';
const maxMessageLength = 2000;
const maxParamLength = 128;

const withoutStatus = (status: number): string => `bad response status code ${status}`;

const shortText = (value: unknown): string | null => (typeof value === 'number' ? String(value) : textIn(value));

/** An error code is one word; some providers put a sentence there. */
const codeIn = (value: unknown): string | null => {
  const text = shortText(value);
  return text !== null && !/\s/.test(text) ? text : null;
};

const failureOf = (source: JsonObject, message: string | null): ReportedFailure => ({
  message,
  type: textIn(source.type),
  code: codeIn(source.code),
  param: shortText(source.param),
});

const detailIn = (detail: JsonValue | undefined): string | null => {
  if (!isList(detail)) return textIn(detail);
  const lines = objectsIn(detail).map(({ msg, loc }) =>
    [isList(loc) ? loc.map(shortText).join('.') : null, textIn(msg)].filter((part) => part !== null).join(': '),
  );
  return textIn(lines.filter((line) => line !== '').join('; '));
};

const messageIn = (error: JsonObject): string | null =>
  textIn(error.message) ?? (isObject(error.message) ? messageIn(error.message) : null) ?? textIn(error.msg);

/** Reads the failure out of whatever shape a provider gives it. */
export function reportedFailure(body: JsonValue | null): ReportedFailure {
  const none: ReportedFailure = { message: null, type: null, code: null, param: null };
  if (isList(body)) return reportedFailure(objectsIn(body)[0] ?? null);
  if (!isObject(body)) return { ...none, message: textIn(body) };
  const { error, header, response } = body;
  if (isObject(error)) return failureOf(error, messageIn(error));
  if (textIn(error) !== null) return { ...none, message: textIn(error), code: codeIn(body.code) };
  const plain = [body.message, body.msg, body.err, body.error_msg].map(textIn).find((text) => text !== null);
  if (plain) return failureOf({ ...body, type: body.object === 'error' ? body.type : undefined }, plain);
  const detail = detailIn(body.detail);
  if (detail !== null) return { ...none, message: detail };
  const listed = objectsIn(body.errors)[0];
  if (listed) return failureOf(listed, messageIn(listed));
  if (isObject(header) && textIn(header.message) !== null) return { ...none, message: textIn(header.message) };
  if (isObject(response) && isObject(response.error)) return failureOf(response.error, messageIn(response.error));
  return { ...none, message: textIn(body.statusText), code: codeIn(body.code) };
}

const kinds: readonly (readonly [RegExp, number])[] = [
  [/content.?filter|sensitive|moderation|inspection|safety/, 400],
  [/api.?key|authenticat|unauthori[sz]ed|token.?invalid|invalid.?token/, 401],
  [/permission|forbidden|access.?denied/, 403],
  [/quota|balance|arrear|billing|credit/, 429],
  [/rate.?limit|throttl|too.?many|concurren|overload|capacity|exhausted/, 429],
  [/not.?found/, 404],
  [/invalid|bad.?request|param|unsupported|context.?length/, 400],
];

/** The status a failure ought to have had that came inside a 200 or in the middle of a stream. */
export function statusOf({ type, code, message }: ReportedFailure): number {
  const number = Number(code);
  if (Number.isInteger(number) && number >= 400 && number <= 599) return number;
  for (const text of [`${type ?? ''} ${code ?? ''}`, message ?? '']) {
    const known = kinds.find(([pattern]) => pattern.test(text.toLowerCase()));
    if (known) return known[1];
  }
  return 502;
}

/** Words with at most one number each, as types and codes are; what keys are made of is not. */
const identifier = /^(?=.{1,64}$)[A-Za-z]*\d{0,8}[A-Za-z]*(?:[ _.:/-]+[A-Za-z]*\d{0,8}[A-Za-z]*)*$/;
/** The path of a member, such as `messages[0].content`. */
const memberPath = /^[\w.[\]$/ -]+$/;

/**
 * Everything an upstream says of a failure passes here, and nothing of it is reported otherwise. Types and codes are
 * for programs: one that is not made like one, or holds something confidential, is left out.
 */
export function asUpstreamError(failure: ReportedFailure, status: number, confidential: Confidential): UpstreamError {
  const plain = (text: string | null, shape: RegExp, maxLength: number): string | null =>
    text !== null && shape.test(text) && withoutSecrets(text, confidential, maxLength) === text ? text : null;
  const type = plain(failure.type, identifier, maxParamLength);
  const code = plain(failure.code, identifier, maxParamLength);
  const classified = failure.type !== null || failure.code !== null;
  return {
    status,
    message:
      failure.message === null
        ? withoutStatus(status)
        : withoutSecrets(failure.message, confidential, maxMessageLength),
    type: type ?? defaultType,
    code: classified ? code : defaultCode,
    param: classified ? plain(failure.param, memberPath, maxParamLength) : String(status),
    retryAfter: null,
  };
}

/** The Retry-After header as it may be passed on: seconds or a date, nothing else; null: none. */
export function reportedRetryAfter(header: string | string[] | undefined): string | null {
  const value = typeof header === 'string' ? header.trim() : '';
  if (/^\d{1,9}$/.test(value)) return value;
  const at = /^[A-Za-z]{3}, [\w: -]{20,27}$/.test(value) ? new Date(value) : null;
  return at === null || Number.isNaN(at.getTime()) ? null : at.toUTCString();
}

/** An answer with an error status. A body that is not JSON is a proxy's page: nobody's business. */
export const errorOfStatus = (status: number, body: Buffer, confidential: Confidential): UpstreamError =>
  asUpstreamError(reportedFailure(upstreamJson(body)), status, confidential);

const unreadableCode = 'bad_response_body';

/** Something the wire family does not allow: half an answer, no JSON where JSON must be. */
export const unreadableAnswer = (what: string): UpstreamError => ({
  status: 502,
  message: what,
  type: defaultType,
  code: unreadableCode,
  param: '',
  retryAfter: null,
});

/** It tells neither an answer nor why there is none. */
export const isUnreadable = ({ code }: UpstreamError): boolean => code === unreadableCode;
