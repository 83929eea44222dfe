import { promptTokens, type Usage } from '../../../domain/call/usage.js';
import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, parseJson } from '../../json/json.js';
import { errorMessage, openAiCaller } from '../openai/dialect.js';
import { rerankNames } from '../openai/names.js';
import { misspelled } from '../spelling.js';

/* How clients of Cohere's second version are answered: https://docs.cohere.com/reference/rerank. */

const apiVersion = { version: '2', is_experimental: false };

/** What was used, by Cohere's names. */
function metaOf(usage: Usage | null): JsonObject {
  const { searchUnits = 0 } = usage ?? {};
  const input = usage === null ? 0 : promptTokens(usage);
  return {
    api_version: apiVersion,
    ...(searchUnits > 0 && { billed_units: { search_units: searchUnits } }),
    ...(input > 0 && { tokens: { input_tokens: input, output_tokens: 0 } }),
  };
}

const ranking = ({ id, results }: JsonObject, usage: Usage | null): Buffer =>
  Buffer.from(jsonText({ id: id ?? '', results: results ?? [], meta: metaOf(usage) }));

export const cohereCaller: CallerDialect = {
  ...openAiCaller,
  misspelled: (body) => misspelled(body, rerankNames),
  whole: ({ body, usage }) => ranking(body, usage),
  withUsage(bytes, usage) {
    const answer = parseJson(bytes.toString('utf8'));
    return isObject(answer) ? ranking(answer, usage) : bytes;
  },
  errorBody: (error, requestId) => JSON.stringify({ message: errorMessage(error, requestId) }),
};
