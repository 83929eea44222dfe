import { inlineTools, withInlineTools } from '../../catalogue/inline-tools.js';
import { maxSearches } from '../../catalogue/searching.js';
import { type CallerRequest, NotConvertible } from '../../contracts/protocol.js';
import type { ServiceSent } from '../../contracts/service-tier.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { withoutMadeBlocks } from './carried-members.js';

/* A caller's own Messages, as far as what they ask for is reserved and charged. */

/** By these a caller would have another model do the work, or the same at another rate, than is priced and allowed. */
const unpriced = ['models', 'fallbacks', 'route', 'anthropic_beta', 'billing_policy', 'fallback_credit_token'];
const plainTiers = new Set<unknown>(['auto', 'standard_only']);
/** Asked for, it keeps the account's own default away. */
const plainGeo = 'global';
/** A tool that asks another model, whose tokens are in no total. */
const asksAnother = /^advisor/;

/** A search is sold by the piece: who names no bound is charged for at most this one, so it is sent upstream too. */
export function boundedTool(tool: JsonObject): JsonObject {
  if (!/^web_search/.test(textIn(tool.type) ?? '')) return tool;
  const max = countIn(tool.max_uses) ?? maxSearches;
  return tool.max_uses === max ? tool : { ...tool, max_uses: max };
}

export const bounded = (tool: JsonValue): JsonValue => (isObject(tool) ? boundedTool(tool) : tool);

function refuseAdvisors({ tools, messages }: JsonObject): void {
  const refuse = ({ type }: JsonObject, place: string): void => {
    if (typeof type === 'string' && asksAnother.test(type))
      throw new NotConvertible('caller', `${place}: a tool that asks another model is not offered`);
  };
  for (const [at, tool] of objectsIn(tools).entries()) refuse(tool, `tools[${at}]`);
  for (const { tool, place } of inlineTools(messages)) refuse(tool, place);
}

/**
 * What is reserved and charged is for one model at a rate with a price; an operator may send otherwise, and price it.
 */
export function pricedBody(body: JsonObject, tiers: readonly JsonValue[] = []): JsonObject {
  refuseAdvisors(body);
  const priced: JsonObject = { ...body };
  if (isList(body.messages)) priced.messages = withInlineTools(withoutMadeBlocks(body.messages), boundedTool);
  if (isList(body.tools)) priced.tools = body.tools.map(bounded);
  for (const name of unpriced) delete priced[name];
  const { speed, inference_geo: geo, service_tier: tier } = priced;
  if (speed !== undefined && speed !== 'standard' && !tiers.includes(speed)) delete priced.speed;
  if (geo !== undefined && geo !== plainGeo && !tiers.includes(geo)) delete priced.inference_geo;
  if (tier !== undefined && !plainTiers.has(tier) && !tiers.includes(tier)) delete priced.service_tier;
  return priced;
}

const tierMembers = ['speed', 'inference_geo', 'service_tier'];

/** Of a request as it goes out. */
export function tierSent({ tiers = [] }: CallerRequest, body: JsonObject, override: JsonObject | null): ServiceSent {
  if (override !== null && tierMembers.some((name) => name in override)) return 'overridden';
  return tierMembers.some((name) => tiers.some((tier) => tier === body[name])) ? 'asked' : undefined;
}
