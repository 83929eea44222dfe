import { isUnavailable } from '../../domain/kernel/failure.js';
import type { JsonObject } from '../json/json.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import { accountFaultIn } from './account-fault.js';
import type { RelayLog } from './ports.js';

/** The type of every error the gateway itself makes; upstream errors keep their own. */
export const gatewayErrorType = 'gateway_error';

/** Of a refusal, what most do not say. */
interface RelayErrorDetails {
  /** Left out: the gateway's own. */
  readonly type?: string | undefined;
  /** The member of the request it is about; left out: ''. */
  readonly param?: string | null;
  /** In seconds, or a date; left out or null: nothing is said. */
  readonly retryAfter?: string | null;
  /** false: asked again soon it would be refused again, and clients are informed. Left out or null: nothing is said. */
  readonly shouldRetry?: false | null;
  /** What the caller gets instead, in its dialect's own words. Left out or null: nothing. */
  readonly passedOn?: JsonObject | null;
}

/** A refusal: what the caller is informed of it, in whatever dialect. */
export class RelayError extends Error {
  readonly type: string;
  readonly param: string | null;
  readonly retryAfter: string | null;
  readonly shouldRetry: false | null;
  readonly passedOn: JsonObject | null;

  constructor(
    readonly status: number,
    readonly code: string | null,
    message: string,
    {
      type = gatewayErrorType,
      param = '',
      retryAfter = null,
      shouldRetry = null,
      passedOn = null,
    }: RelayErrorDetails = {},
  ) {
    super(message);
    this.name = 'RelayError';
    this.type = type;
    this.param = param;
    this.retryAfter = retryAfter;
    this.shouldRetry = shouldRetry;
    this.passedOn = passedOn;
  }
}

/** In seconds. Clients sleep as long as this says, silently; nobody waits longer for an answer. */
const maxWait = 60;

/** Seconds after which to ask again; null: none are given, or more than anybody waits. */
export function secondsToWait({ retryAfter }: Pick<RelayError, 'retryAfter'>, now = Date.now()): number | null {
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  const wait = Number.isNaN(seconds) ? Math.ceil((Date.parse(retryAfter ?? '') - now) / 1000) : seconds;
  return wait >= 0 && wait <= maxWait ? wait : null;
}

/** Refused for who calls and what they have: the same request is refused again, until somebody changes that. */
const forGood: ReadonlySet<number> = new Set([401, 402, 403]);

/** Whether clients are informed not to ask again. */
export const isFinal = (error: RelayError): boolean =>
  error.shouldRetry === false ||
  forGood.has(error.status) ||
  (error.retryAfter !== null && secondsToWait(error) === null);

const ofMoney: ReadonlySet<string> = new Set([
  'insufficient_user_quota',
  'pre_consume_token_quota_failed',
  'token_budget_exceeded',
  'token_exhausted',
]);

/** The caller has nothing left to spend. */
export const isShortOfMoney = ({ code, type }: RelayError): boolean =>
  type === gatewayErrorType && code !== null && ofMoney.has(code);

/** Statuses that a caller would take for its own account's, and a gateway in front for its channel's. */
const ofAccounts: ReadonlySet<number> = new Set([401, 402, 403]);

/**
 * The operator's account at the upstream is refused or exhausted. Callers learn no more of it, and no status, type or
 * code that means their own account. A channel's mapping to another status holds.
 */
export function accountUnavailable(answered: number, mapped: number): RelayError {
  const chosen = mapped !== answered && !ofAccounts.has(mapped) ? mapped : 502;
  const message = 'the upstream does not serve the gateway at present; whoever runs the gateway can see why';
  return new RelayError(chosen, 'upstream_account_unavailable', message, { shouldRetry: false });
}

const saturated = 'the upstream of this group is saturated, retry later';

/** An upstream's refusal after the channel's status mapping, as callers are informed of it. */
export const errorForCaller = (error: UpstreamError, status: number): RelayError =>
  accountFaultIn(error, status) === null ? fromUpstream(error, status) : accountUnavailable(error.status, status);

/** The same in upstream's own words, for whoever runs the gateway. */
export function fromUpstream(error: UpstreamError, status: number): RelayError {
  const message = status === 429 ? saturated : error.message;
  return new RelayError(status, error.code, message, {
    type: error.type,
    param: error.param,
    retryAfter: error.retryAfter,
    passedOn: error.passedOn ?? null,
  });
}

/** Seconds. Nobody knows when a call will end; most end soon. */
const soon = '1';

/** There is no room at the upstream, and nothing was sent. */
export const saturatedHere = (): RelayError =>
  new RelayError(429, 'upstream_saturated', saturated, { retryAfter: soon });

export const tooManyCalls = (whose: 'token' | 'playground', max: number): RelayError =>
  new RelayError(429, 'concurrency_limit_exceeded', `the ${whose} has ${max} calls in progress, which is the maximum`, {
    retryAfter: soon,
  });

export const networkFailure = (message = 'request to upstream failed'): RelayError =>
  new RelayError(500, 'do_request_failed', message);

const maxNameLength = 128;
/** Callers may ask for a model of any length. */
export const shortened = (name: string): string =>
  name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;

/** No channel has the model: to ask again is no use, and clients do not. */
export const unknownModel = (model: string): RelayError =>
  new RelayError(404, 'model_not_found', `The model '${shortened(model)}' does not exist`, {
    type: 'invalid_request_error',
    param: 'model',
  });

/** The model may come back: its channels are switched off, or serve other groups. */
export const noChannel = (model: string, group: string, code = 'model_not_found'): RelayError =>
  new RelayError(503, code, `no available channel for model ${shortened(model)} in group ${group}`);

/** Quota as people read it: dollars where the operator shows currency, units otherwise. */
export const plainQuotaText = (quota: number, quotaPerUnit: string, inCurrency: boolean): string =>
  inCurrency ? `$${(quota / Number(quotaPerUnit)).toFixed(6)}` : String(quota);

export const jsonType = 'application/json; charset=utf-8';

/** How a call is withdrawn whose outcome the log does not take. */
export const withdrawal = { status: 503, code: 'store_unavailable' } as const;

export const storeUnavailable = (message: string): RelayError =>
  new RelayError(withdrawal.status, withdrawal.code, message);

/** Our own mistake: the log says which, and nobody else learns it. */
export const internalError = (): RelayError =>
  new RelayError(500, 'internal_error', 'internal error', { type: 'gateway_panic' });

export const logBug = (log: Pick<RelayLog, 'error'>, requestId: string, bug: unknown): void =>
  log.error({ requestId, error: bug instanceof Error ? bug.stack : String(bug) }, 'a call failed unexpectedly');

/**
 * The one place where whatever was thrown becomes what the caller is answered. What nobody expected is logged whole.
 */
export function refusalFor(error: unknown, requestId: string, log: Pick<RelayLog, 'warn' | 'error'>): RelayError {
  if (error instanceof RelayError) return error;
  if (isUnavailable(error)) {
    log.warn({ requestId, err: error }, 'a call could not be served');
    return storeUnavailable('the database cannot be reached; try again later');
  }
  logBug(log, requestId, error);
  return internalError();
}
