import { NotConvertible } from '../../contracts/protocol.js';
import { isList, type JsonObject } from '../../json/json.js';

/*
 * Members of a Messages request at an upstream of another wire. Those that are carried, and those that are only hints and
 * stay behind, are listed; every other one is refused by its name, in the words by which Anthropic refuses a member that
 * it does not know: clients have an answer to these.
 */

export const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/** `carried`: has a path in neutral words. `hints`: the answer means the same without it. Separated by blanks. */
const known = (carried: string, hints: string): ReadonlySet<string> =>
  new Set(`${carried} ${hints}`.trim().split(/\s+/));

export const within = {
  request: known(
    `model messages max_tokens system stop_sequences stream temperature top_p top_k tools tool_choice thinking
     output_config output_format metadata speed inference_geo context_management`,
    'cache_control diagnostics service_tier models route anthropic_beta fallbacks fallback_credit_token billing_policy',
  ),
  message: known('role content', ''),
  systemMessage: known('role content clear_at output_config', ''),
  tool: known(
    'type name description input_schema defer_loading cache_control',
    'allowed_callers eager_input_streaming input_examples strict',
  ),
  toolChoice: known('type name disable_parallel_tool_use', ''),
  thinking: known('type budget_tokens', 'display block_binding'),
  output: known('effort format', 'task_budget'),
  messageOutput: known('effort', ''),
  metadata: known('user_id', ''),
  text: known('type text cache_control', 'citations'),
  image: known('type source cache_control', 'transformations'),
  document: known('type source title context cache_control', 'citations'),
  searchResult: known('type source title content cache_control', 'citations'),
  toolReference: known('type tool_name', 'cache_control'),
  toolUse: known('type id name input cache_control', 'caller toolset_name'),
  toolResult: known('type tool_use_id content is_error cache_control', 'toolset_name'),
  thinkingBlock: known('type thinking signature data', 'cache_control'),
  compaction: known('type content tool_changes', 'cache_control signature encrypted_content'),
} as const;

/** `path`: of the members, with what is before their names. Null and an empty list say nothing. Throws NotConvertible naming the first member that is not among these. */
export function refuseOthers(holder: JsonObject, names: ReadonlySet<string>, path: string): void {
  for (const [name, value] of Object.entries(holder))
    if (!names.has(name) && (value ?? null) !== null && !(isList(value) && value.length === 0))
      throw refused(`${path}${name.slice(0, 100)}: Extra inputs are not permitted: another provider does not take it`);
}
