import type { CallerRequest, RequestOptions } from '../../contracts/protocol.js';
import { keepsThread } from './usage.js';

/* What Anthropic is sent beside the body: the version of its interface, and what of it that is not yet usual. */

export const usualVersion = '2023-06-01';
const version = /^\d{4}-\d\d-\d\d$/;
const beta = /^[\w.:-]{1,128}$/;
const maxBetas = 64;
const betaHeader = 'anthropic-beta';
const versionHeader = 'anthropic-version';

/** By these a caller would have the work done at another rate than is priced, or on more than it sends. */
const pricedBetas =
  /^(fast-mode|context-1m|server-side-fallback|fallback-credit|advisor-tool|message-threads|user-profiles-billing)/i;

/** Named for a conversation that is kept, which is believed and paid for as it is. */
const threadBeta = /^message-threads/i;

/** Needed by older versions of the interface for a tier that may have a price. */
const fastBeta = /^fast-mode/i;

/** The caller's, and what the operator has for this model. */
export function betasOf(caller: CallerRequest, model: string, { claude }: RequestOptions): readonly string[] {
  const { headers, tiers = [] } = caller;
  const isPaid = (one: string): boolean =>
    !pricedBetas.test(one) ||
    (fastBeta.test(one) && tiers.includes('fast')) ||
    (threadBeta.test(one) && keepsThread(caller));
  const configured = claude.headers.get(model)?.get(betaHeader) ?? [];
  const asked = String(headers[betaHeader] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => beta.test(one) && isPaid(one));
  return [...new Set([...asked.slice(0, maxBetas), ...configured])];
}

/** As it came where nothing was left out or added. */
function betaText(betas: readonly string[], asked: unknown): string {
  const same = typeof asked === 'string' && asked.split(',').map((one) => one.trim());
  return same !== false && same.length === betas.length && same.every((one, at) => one === betas[at])
    ? String(asked)
    : betas.join(',');
}

const askedVersion = ({ headers }: Pick<CallerRequest, 'headers'>): string | null => {
  const asked = headers[versionHeader];
  return typeof asked === 'string' && version.test(asked) ? asked : null;
};

/** From this version of the interface on any sampling in a request is an error. */
const refusesSampling = (asked: string | null): boolean => asked !== null && asked >= '2026-10-21';

/**
 * Who has chosen a version of the interface by which a request must not say anything of sampling. An operator may
 * configure one for the model. null: the version takes sampling.
 */
export function samplingRefusedBy(
  caller: Pick<CallerRequest, 'headers'>,
  model: string,
  { claude }: Pick<RequestOptions, 'claude'>,
): 'caller' | 'operator' | null {
  const asked = askedVersion(caller);
  const configured = claude.headers.get(model)?.get(versionHeader)?.join(', ');
  if (!refusesSampling(configured ?? asked)) return null;
  return refusesSampling(asked) ? 'caller' : 'operator';
}

export function messagesHeaders(
  caller: CallerRequest,
  model: string,
  betas: readonly string[],
  { claude }: RequestOptions,
): Record<string, string> {
  const others = [...(claude.headers.get(model) ?? [])].filter(([name]) => name !== betaHeader);
  return {
    [versionHeader]: askedVersion(caller) ?? usualVersion,
    ...Object.fromEntries(others.map(([name, values]) => [name, values.join(', ')])),
    ...(betas.length > 0 && { [betaHeader]: betaText(betas, caller.headers[betaHeader]) }),
  };
}
