import type { CallerRequest, RequestOptions } from '../../contracts/protocol.js';

/* What Anthropic is sent beside the body: the version of its interface, and what of it that is not yet usual. */

export const usualVersion = '2023-06-01';
const version = /^\d{4}-\d\d-\d\d$/;
const beta = /^[\w.:-]{1,128}$/;
const maxBetas = 64;
const betaHeader = 'anthropic-beta';

/** By these a caller would have the work done at another rate than is priced, or on more than it sends. */
const pricedBetas =
  /^(fast-mode|context-1m|server-side-fallback|fallback-credit|advisor-tool|message-threads|user-profiles-billing)/i;

/** Needed by older versions of the interface for a tier that may have a price. */
const fastBeta = /^fast-mode/i;

/** The caller's, and what the operator has for this model. */
export function betasOf(
  { headers, tiers = [] }: CallerRequest,
  model: string,
  { claude }: RequestOptions,
): readonly string[] {
  const configured = claude.headers.get(model)?.get(betaHeader) ?? [];
  const asked = String(headers[betaHeader] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => beta.test(one) && (!pricedBetas.test(one) || (fastBeta.test(one) && tiers.includes('fast'))));
  return [...new Set([...asked.slice(0, maxBetas), ...configured])];
}

export function messagesHeaders(
  { headers }: CallerRequest,
  model: string,
  betas: readonly string[],
  { claude }: RequestOptions,
): Record<string, string> {
  const asked = headers['anthropic-version'];
  const others = [...(claude.headers.get(model) ?? [])].filter(([name]) => name !== betaHeader);
  return {
    'anthropic-version': typeof asked === 'string' && version.test(asked) ? asked : usualVersion,
    ...Object.fromEntries(others.map(([name, values]) => [name, values.join(', ')])),
    ...(betas.length > 0 && { [betaHeader]: betas.join(',') }),
  };
}
