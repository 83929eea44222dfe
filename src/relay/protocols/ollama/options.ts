import type { ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';

/*
 * Options of Ollama's (https://docs.ollama.com/modelfile): callers choose how is sampled. What loads a model and how long
 * it stays is chosen by the channel's own parameters: the server is everybody's.
 */

const sampling = ['temperature', 'top_p', 'top_k', 'seed', 'frequency_penalty', 'presence_penalty'] as const;

const callers: ReadonlySet<string> = new Set([
  ...sampling,
  ...['min_p', 'typical_p', 'tfs_z', 'repeat_penalty', 'repeat_last_n', 'penalize_newline'],
  ...['mirostat', 'mirostat_eta', 'mirostat_tau', 'stop', 'num_predict'],
]);

/** A caller's own. Throws NotConvertible naming what only an operator chooses. */
export function callersOptions({ options = null, keep_alive: kept = null }: JsonObject): JsonObject {
  if (kept !== null)
    throw new NotConvertible('caller', 'keep_alive: how long a model stays loaded is chosen by the operator');
  if (options === null) return {};
  if (!isObject(options)) throw new NotConvertible('caller', 'options must be an object');
  const other = Object.keys(options).find((name) => !callers.has(name));
  if (other === undefined) return options;
  throw new NotConvertible(
    'caller',
    `options.${other.slice(0, 100)}: callers choose ${[...callers].join(', ')}; the rest is chosen by the operator`,
  );
}

/** `operators`: of a channel's own parameters. `max`: tokens of an answer that are reserved for. Throws NotConvertible. */
export function optionsOf(body: ChatRequest & JsonObject, operators: JsonObject, max: number): JsonObject {
  const stops = (isList(body.stop) ? body.stop : [body.stop ?? null]).filter((one) => textIn(one) !== null);
  const numbers = sampling.flatMap((name) => (typeof body[name] === 'number' ? [[name, body[name]] as const] : []));
  const limit = countIn(body.max_tokens as JsonValue | undefined);
  const options: JsonObject = {
    ...callersOptions(body),
    ...Object.fromEntries(numbers),
    ...(stops.length > 0 && { stop: stops }),
    ...operators,
  };
  // -1 and -2 are no limit there, and whoever sets one does not raise it above what is reserved.
  const said = [limit, countIn(options.num_predict)].find((one) => one !== null && one > 0) ?? null;
  delete options.num_predict;
  return said === null ? options : { ...options, num_predict: Math.min(said, max) };
}
