import { hostedSearchesIn, isSearchBound, searchBoundOf } from '../contracts/hosted-search.js';
import type { ChatRequest } from '../contracts/neutral-request.js';
import { NotConvertible } from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn, textIn } from '../json/json.js';

/* The search that a request asks its provider for, read for wires that have one of their own. */

interface RequestedSearch {
  /** Domains alone that may be found, or none of that may be. Empty: any may. */
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  /** Of its user, some of `city`, `region`, `country` and `timezone`; null: not said. */
  readonly location: JsonObject | null;
  /** Searches at most; null: not said. */
  readonly maxUses: number | null;
}

const maxDomains = 100;

const refused = (what: string): NotConvertible => new NotConvertible('caller', `web_search: ${what}`);

/** Whose words are read, or change nothing that matters here. */
const known: ReadonlySet<string> = new Set([
  ...['type', 'name', 'filters', 'allowed_domains', 'blocked_domains', 'user_location', 'max_uses'],
  ...['search_context_size', 'external_web_access', 'cache_control'],
]);
const knownFilters: ReadonlySet<string> = new Set(['allowed_domains', 'blocked_domains']);
const placeNames = ['city', 'region', 'country', 'timezone'] as const;
const knownOfLocation: ReadonlySet<string> = new Set(['type', 'approximate', ...placeNames]);
const knownOfPlace: ReadonlySet<string> = new Set(placeNames);

function checkNames(given: JsonObject, names: ReadonlySet<string>, path: string): void {
  for (const name of memberNamesIn(given))
    if (!names.has(name) && (given[name] ?? null) !== null)
      throw refused(
        `${path}${name.slice(0, 100)} cannot be put to this provider; allowed are ${[...names].join(', ')}`,
      );
}

function domainsIn(given: JsonValue | undefined, name: string): readonly string[] {
  if ((given ?? null) === null) return [];
  const domains = isList(given) ? given.flatMap((one) => textIn(one) ?? []) : [];
  if (!isList(given) || domains.length !== given.length || domains.length > maxDomains)
    throw refused(`${name} must be a list of at most ${maxDomains} domains`);
  return domains;
}

/** null: it is left out. */
function objectIn(given: JsonValue | undefined, path: string): JsonObject | null {
  if ((given ?? null) === null) return null;
  if (!isObject(given)) throw refused(`${path} must be an object`);
  return given;
}

function locationIn(given: JsonValue | undefined): JsonObject | null {
  const location = objectIn(given, 'user_location');
  if (location === null) return null;
  if ((location.type ?? 'approximate') !== 'approximate') throw refused('user_location.type must be approximate');
  const approximate = objectIn(location.approximate, 'user_location.approximate');
  checkNames(location, knownOfLocation, 'user_location.');
  if (approximate !== null) checkNames(approximate, knownOfPlace, 'user_location.approximate.');
  const path = approximate === null ? 'user_location' : 'user_location.approximate';
  const said = approximate ?? location;
  const named = placeNames.flatMap((name): [string, string][] => {
    const part = said[name] ?? null;
    if (part !== null && typeof part !== 'string') throw refused(`${path}.${name} must be a text`);
    return textIn(part) === null ? [] : [[name, String(part)]];
  });
  return named.length === 0 ? null : Object.fromEntries(named);
}

function boundIn(search: JsonObject): number | null {
  if ((search.max_uses ?? null) !== null && !isSearchBound(search.max_uses))
    throw refused('max_uses must be an integer from 1');
  return searchBoundOf(search);
}

/** null: it asks for none. Throws NotConvertible. */
export function requestedSearch(body: ChatRequest): RequestedSearch | null {
  const [search, ...others] = hostedSearchesIn(body);
  if (search === undefined) return null;
  if (others.length > 0) throw refused('this provider is asked for one, not for several');
  checkNames(search, known, '');
  const filters = objectIn(search.filters, 'filters') ?? {};
  checkNames(filters, knownFilters, 'filters.');
  return {
    allowed: domainsIn(filters.allowed_domains ?? search.allowed_domains, 'allowed_domains'),
    blocked: domainsIn(filters.blocked_domains ?? search.blocked_domains, 'blocked_domains'),
    location: locationIn(search.user_location),
    maxUses: boundIn(search),
  };
}
