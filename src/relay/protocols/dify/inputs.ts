import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { maxNesting } from '../../json/nested-texts.js';

/* Input variables of an app, as callers give them. Files among them are named by an address, never by an id of Dify's. */

/** Ids of files that lie in the account of the channel: nobody here knows whose they are. */
const fileIds = ['upload_file_id', 'tool_file_id', 'datasource_file_id', 'related_id', 'reference'];

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

function checkFile(value: JsonObject, path: string): void {
  const { transfer_method: method, url, remote_url: other } = value;
  const named = fileIds.find((name) => (value[name] ?? null) !== null && (name.endsWith('file_id') || method));
  if (named !== undefined)
    throw refused(`${path}.${named}: files of the provider cannot be named; give an address, or a part of a message`);
  if ((method ?? null) === null) return;
  if (method !== 'remote_url') throw refused(`${path}.transfer_method must be remote_url`);
  for (const address of [url, other])
    if ((address ?? null) !== null && !/^https?:\/\//i.test(textIn(address) ?? ''))
      throw refused(`${path}.url must be an http(s) address`);
}

/** Throws NotConvertible naming the member. */
function check(value: JsonValue | undefined, path: string, nesting: number): void {
  if (nesting > maxNesting) throw refused(`inputs: at most ${maxNesting} values lie within each other`);
  if (isList(value)) for (const [at, one] of value.entries()) check(one, `${path}[${at}]`, nesting + 1);
  if (!isObject(value)) return;
  checkFile(value, path.slice(0, 200));
  for (const [name, one] of Object.entries(value)) check(one, `${path}.${name.slice(0, 100)}`, nesting + 1);
}

/** Throws NotConvertible naming the member. */
export function inputsOf({ inputs = null }: JsonObject): JsonObject {
  if (inputs === null) return {};
  if (!isObject(inputs)) throw refused('inputs must be an object');
  check(inputs, 'inputs', 0);
  return inputs;
}
