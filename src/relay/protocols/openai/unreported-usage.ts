import { noUsage, plus, type Usage } from '../../../domain/call/usage.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import type { ToolCalls } from '../../../domain/pricing/quantities.js';
import { askedTools } from '../../catalogue/asked-tools.js';
import { asksToKeepForHours } from '../../catalogue/cache-lifetimes.js';
import type { CallerRequest, UpstreamChannel } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';
import type { Unreported } from './usage.js';

const noneSwitched: ReadonlySet<string> = new Set();

type Asked = Pick<CallerRequest, 'mode' | 'body'> & { readonly dialect: { readonly wire: string } };

const once = (calls: Usage, name: ToolCalls): Usage => (calls[name] === undefined ? plus(calls, name, 1) : calls);

function askedIn(body: JsonObject, calls: Usage): Usage {
  let all = calls;
  for (const asked of askedTools(body, noneSwitched)) all = once(all, asked.calls);
  return all;
}

/**
 * What is charged of an answer whose upstream reports nothing of its own tools: one call of each that it was asked for.
 * `model`: as it goes upstream.
 */
function unreportedTools(
  { dialect, mode, body }: Asked,
  { paramOverride }: Pick<UpstreamChannel, 'paramOverride'>,
  model: string,
): Usage {
  // What a response has used stands in it, item by item.
  if (mode === 'responses') return noUsage;
  // Who speaks another dialect has such tools of another wire, which do not go here.
  const own = dialect.wire === 'openai' && (mode === 'chat' || mode === 'completions');
  let calls = factsOf(model).searchesAlways ? once(noUsage, 'calls:web_search') : noUsage;
  if (own) calls = askedIn(body, calls);
  return paramOverride === null ? calls : askedIn(paramOverride, calls);
}

/** For a stream, which outlives the request: looked for at once, so that nothing refers to the caller's body. */
export function unreportedOfStream(...asked: Parameters<typeof unreportedUsage>): Unreported {
  const { calls, keepsForHours } = unreportedUsage(...asked);
  return answering(calls, keepsForHours());
}

const answering = (calls: Usage, keeps: boolean): Unreported => ({ calls, keepsForHours: () => keeps });

/** The same, and whether what is written to a cache is kept for hours: looked for when somebody asks. */
export function unreportedUsage(
  caller: Asked,
  channel: Pick<UpstreamChannel, 'paramOverride'>,
  model: string,
): Unreported {
  const { dialect, body } = caller;
  const { paramOverride } = channel;
  return {
    calls: unreportedTools(caller, channel, model),
    // Who speaks another dialect asks for it in words that do not go here.
    keepsForHours: () =>
      (dialect.wire === 'openai' && asksToKeepForHours(body, 'openai')) ||
      (paramOverride !== null && asksToKeepForHours(paramOverride, 'openai')),
  };
}
