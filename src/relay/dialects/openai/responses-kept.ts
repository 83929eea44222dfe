import type { KeptKind } from '../../../domain/call/kept-object.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import {
  isItemReference,
  isStoredThought,
  type KeptMembers,
  type NamedId,
  unaskedApprovals,
} from '../../contracts/kept-ids.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn } from '../../json/json.js';

/* Where a request of the Responses interface names what is kept, and asks to have something kept. */

type Path = readonly (string | number)[];

const paramOf = (path: Path): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');

const named = (kind: KeptKind, id: JsonValue | undefined, path: Path, said: Path = path): NamedId[] => {
  const text = typeof id === 'string' ? id : null;
  return text === null ? [] : [{ kind, id: text, path, param: paramOf(said) }];
};

function conversationIn({ conversation }: JsonObject): NamedId[] {
  if (!isObject(conversation)) return named('conversation', conversation, ['conversation']);
  return memberNamesIn(conversation).every((name) => name === 'id')
    ? named('conversation', conversation.id, ['conversation'])
    : [];
}

const comparedIn = ({ prompt_cache_options: options }: JsonObject): NamedId[] =>
  isObject(options)
    ? named('response', options.comparison_response_id, ['prompt_cache_options', 'comparison_response_id'])
    : [];

function filesIn(content: JsonValue | undefined, path: Path): NamedId[] {
  const found: NamedId[] = [];
  for (const [at, part] of (isList(content) ? content : []).entries())
    if (isObject(part) && part.file_id !== undefined)
      found.push(...named('file', part.file_id, [...path, at, 'file_id']));
  return found;
}

/** A container is used again by what says that code was run in it. */
function inItem(item: JsonObject, at: number): NamedId[] {
  const path = ['input', at];
  if (isItemReference(item) || isStoredThought(item)) return named('item', item.id, path, [...path, 'id']);
  const { type, container_id: container, environment, content, output } = item;
  return [
    ...(type === 'message' || container === undefined ? [] : named('container', container, [...path, 'container_id'])),
    ...(isObject(environment)
      ? named('container', environment.container_id, [...path, 'environment', 'container_id'])
      : []),
    ...filesIn(content, [...path, 'content']),
    ...filesIn(output, [...path, 'output']),
  ];
}

function idsIn(body: JsonObject): readonly NamedId[] {
  const { input, tools } = body;
  const found = [
    ...named('response', body.previous_response_id, ['previous_response_id']),
    ...conversationIn(body),
    ...comparedIn(body),
  ];
  const items = isList(input) ? input : [];
  for (const [at, item] of items.entries()) if (isObject(item)) found.push(...inItem(item, at));
  for (const { at, id } of unaskedApprovals(items))
    found.push(...named('item', id, ['input', at, 'approval_request_id']));
  for (const [at, tool] of (isList(tools) ? tools : []).entries())
    if (isObject(tool)) found.push(...named('container', tool.container, ['tools', at, 'container']));
  return found;
}

/** What is left out stands for the provider's default. */
function keeps({ store, background }: JsonObject): InvalidMember | null {
  if (background === true)
    return {
      param: 'background',
      message:
        'background must be false here: nobody could fetch the response later; leave it out, and stream the answer where it takes long',
    };
  return (store ?? null) === null || store === false
    ? null
    : {
        param: 'store',
        message:
          'store must be false here, for nothing is kept at the provider; leave it out, and send the whole conversation with every request',
      };
}

export const responsesKept: KeptMembers = { idsIn, keeps };
