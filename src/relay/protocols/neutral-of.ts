import type { Endpoint } from '../contracts/endpoint.js';
import { type NeutralRequest, neutralRequest } from '../contracts/neutral-request.js';
import type { JsonObject } from '../json/json.js';
import { withFitToolNames } from './tool-names.js';

/**
 * What is asked for in neutral words, made when it is first asked for, and once. `exact`: the body, its numbers with all
 * digits. `renamedTools` gets which names of tools were made fit. What is given throws NotConvertible.
 */
export function neutralOf(
  { mode, toNeutral }: Pick<Endpoint, 'mode' | 'toNeutral'>,
  body: JsonObject,
  exact = (): JsonObject => body,
  renamedTools = new Map<string, string>(),
): () => NeutralRequest {
  let made: NeutralRequest | null = null;
  return () => {
    made ??= toNeutral === null ? neutralRequest(mode, exact()) : withFitToolNames(toNeutral(exact()), renamedTools);
    return made;
  };
}
