import { boundIn, isCount, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';

/*
 * A search of the web that a provider is to run, as callers of OpenAI's interfaces ask for it: a tool, or in chat the
 * member `web_search_options`.
 */

const searchType = /^web_search(_preview)?(_(\d{8}|\d{4}_\d{2}_\d{2}))?$/;

/** One that must not go out to the web is offered by agents with every request, and finds little anywhere. */
export const isOfferedAnyway = ({ type, external_web_access: goesOut }: JsonObject): boolean =>
  searchType.test(textIn(type) ?? '') && goesOut === false;

export const isHostedSearch = (tool: JsonObject): boolean => searchType.test(textIn(tool.type) ?? '');

/** Those that a body asks for, in their order. */
export function hostedSearchesIn({ tools, web_search_options: options }: JsonObject): JsonObject[] {
  const asked = objectsIn(tools).filter((tool) => isHostedSearch(tool) && !isOfferedAnyway(tool));
  return isObject(options) ? [...asked, options] : asked;
}

/** Whether it can bound searches. */
export const isSearchBound = (uses: JsonValue | undefined): boolean => isCount(uses) && uses > 0;

/** How often a search may be run, as it is reserved for and sent; null: it names no number that is a bound. */
export const searchBoundOf = ({ max_uses: uses }: JsonObject): number | null => boundIn(uses);

/** The same body where another tool searches. `tool`: as its provider is asked. */
export function withSearchBy(body: JsonObject, tool: JsonObject): JsonObject {
  const { web_search_options: _, ...rest } = body;
  const searches = hostedSearchesIn(body);
  const others = objectsIn(body.tools).filter((one) => !isHostedSearch(one));
  const uses = searchBoundOf(searches[0] ?? {});
  const search = uses === null ? tool : { ...tool, max_uses: uses };
  return { ...rest, tools: searches.length > 0 ? [...others, search] : others };
}
