import { inlineTools } from '../../catalogue/inline-tools.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import { isItemReference, unaskedApprovals } from '../../contracts/kept-ids.js';
import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  memberNamesIn,
  objectsIn,
  textIn,
} from '../../json/json.js';

/*
 * What a provider keeps (files, containers, conversations, answers) lies in the account of a channel, which all callers
 * share. Whoever names it by its id would be given what another caller left there, so such an id is refused by its name,
 * whatever the dialect. What the request itself holds, and addresses open to everybody, are let through.
 */

const foldedNames = new Map<string, string>();
const maxRemembered = 4_096;

/** As a lenient receiver reads a name. The same few come with every call. */
function folded(name: string): string {
  const known = foldedNames.get(name);
  if (known !== undefined) return known;
  const fold = name.toLowerCase().replaceAll('_', '');
  // Names come from callers: emptied rather than allowed to grow, and none that is long.
  if (foldedNames.size >= maxRemembered) foldedNames.clear();
  if (name.length <= 64) foldedNames.set(name, fold);
  return fold;
}

const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));

const ofRequests = set(
  `previousresponseid responseid conversation conversationid thread threadid assistantid container containerid contextid
   chatid cachedcontent fileid fileids vectorstoreids knowledgeid knowledgeids knowledgebaseids toolresources
   previousinteractionid interactionid promptid`,
);
const ofTools = set(
  'container containerid fileid fileids vectorstoreids knowledgeid knowledgeids knowledgebaseids connectorid tunnelid',
);
const ofCacheOptions = set('comparisonresponseid');
const ofParts = set('fileid fileids');
const ofPredictions = set('gcsuri storageuri outputgcsuri');

const refused = (param: string, instead: string): InvalidMember => ({
  param,
  message: `${param} cannot be used through the gateway, for callers share the provider's account: ${instead}`,
});

const sendIt = 'send the content itself';

/** A new container is nobody's yet, and the provider's own skills are everybody's. */
const isNewContainer = (value: JsonValue | undefined): boolean =>
  isObject(value) &&
  memberNamesIn(value).every((name) => name === 'type' || name === 'skills' || name === 'memory_limit') &&
  (value.type ?? 'auto') === 'auto' &&
  objectsIn(value.skills).every(({ type }) => type === 'anthropic');

function named(holder: JsonObject, names: ReadonlySet<string>, path: string, instead = sendIt): InvalidMember | null {
  for (const name of memberNamesIn(holder)) {
    const fold = folded(name);
    if (!names.has(fold)) continue;
    if (fold === 'container' && isNewContainer(holder[name])) continue;
    return refused(path + name, instead);
  }
  return null;
}

const addressed = set(
  'url uri data fileuri filedata fileurl imageurl videourl audiourl documenturl image video audio file',
);
const openScheme = /^https?:/i;
const scheme = /^\s*[a-z][a-z0-9+._-]{0,30}:\/\//i;
/** Files of Google's, which are read with the key that asks. */
const keptByGoogle = /^\s*https?:\/\/([^/?#]*[.@])?generativelanguage\.googleapis\.com([:/?#]|$)/i;

/** Providers give files addresses under schemes of their own. */
function addressedIn(holder: JsonObject, path: string): InvalidMember | null {
  // A document that is its text.
  if (holder.type === 'text') return null;
  for (const [name, value] of Object.entries(holder))
    if (typeof value === 'string' && addressed.has(folded(name))) {
      const start = value.slice(0, 256);
      if ((scheme.test(start) && !openScheme.test(start.trimStart())) || keptByGoogle.test(start))
        return refused(path + name, 'give an http(s) address open to everybody, or send the content itself');
    }
  return null;
}

/** Results of a provider's own tools say what was made, and bring nothing along. */
const resultTypes = /_tool_result$|^(tool_use|server_tool_use|mcp_tool_use)$/;

function inPart(part: JsonObject, path: string): InvalidMember | null {
  const type = textIn(part.type) ?? '';
  if (resultTypes.test(type)) return null;
  const wrong = named(part, ofParts, `${path}.`) ?? addressedIn(part, `${path}.`);
  if (wrong !== null) return wrong;
  if (isObject(part.source)) {
    const inside = inContent(part.source.content, `${path}.source.content`);
    if (inside !== null) return inside;
  }
  for (const [name, value] of Object.entries(part)) {
    if (!isObject(value)) continue;
    const inside = named(value, ofParts, `${path}.${name}.`) ?? addressedIn(value, `${path}.${name}.`);
    if (inside !== null) return inside;
  }
  return inContent(part.content, `${path}.content`);
}

function inContent(content: JsonValue | undefined, path: string): InvalidMember | null {
  if (isObject(content)) return inPart(content, path);
  if (!isList(content)) return null;
  for (const [at, part] of content.entries()) {
    const wrong = isObject(part) ? inPart(part, `${path}[${at}]`) : null;
    if (wrong !== null) return wrong;
  }
  return null;
}

/** Some read instructions that are the address of a file as that file. */
const isFile = (content: JsonValue | undefined): boolean => /^\s*file-?id:\/\//i.test(textIn(content) ?? '');

function inMessage(message: JsonObject, path: string): InvalidMember | null {
  const { role, content, audio } = message;
  if (isObject(audio) && (audio.id ?? null) !== null)
    return refused(`${path}.audio.id`, 'send the transcript of an earlier answer as its content');
  const instructs = role !== 'user' && role !== 'assistant' && role !== 'tool';
  if (instructs && (isList(content) ? objectsIn(content).some(({ text }) => isFile(text)) : isFile(content)))
    return refused(`${path}.content`, 'send the words of the file');
  return named(message, ofParts, `${path}.`) ?? inContent(content, `${path}.content`);
}

/** Of the input of a response. */
function inItem(item: JsonObject, path: string): InvalidMember | null {
  if (isItemReference(item)) return refused(`${path}.id`, 'send the item itself');
  return (
    inMessage(item, path) ??
    inContent(item.output, `${path}.output`) ??
    firstOf(objectsIn(item.tools), (tool, at) => inTool(tool, `${path}.tools[${at}]`))
  );
}

function inTool(tool: JsonObject, path: string): InvalidMember | null {
  const wrong =
    named(tool, ofTools, `${path}.`) ??
    firstOf(objectsIn(tool.tools), (inner, at) => inTool(inner, `${path}.tools[${at}]`));
  if (wrong !== null || isObject(tool.function)) return wrong;
  for (const [name, value] of Object.entries(tool)) {
    if (!isObject(value) || /schema|parameters/i.test(name)) continue;
    const inside = named(value, ofTools, `${path}.${name}.`);
    if (inside !== null) return inside;
  }
  return null;
}

function anywhere(value: JsonValue | undefined, path: string): InvalidMember | null {
  if (isList(value)) return firstOf(value, (one, at) => anywhere(one, `${path}[${at}]`));
  if (!isObject(value)) return null;
  return (
    named(value, ofPredictions, `${path}.`) ??
    firstOf(Object.entries(value), ([name, member]) => anywhere(member, `${path}.${name}`))
  );
}

function firstOf<One>(
  all: Iterable<One>,
  judged: (one: One, at: number) => InvalidMember | null,
): InvalidMember | null {
  let at = 0;
  for (const one of all) {
    const wrong = judged(one, at++);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** A prompt that is kept at OpenAI is an object with an id; that of a completion is its text. */
const storedPrompt = ({ prompt }: JsonObject, path: string): InvalidMember | null =>
  isObject(prompt) ? refused(`${path}prompt`, 'send its words as messages') : null;

/** An earlier answer whose cache is looked at. */
function comparedAnswer(body: JsonObject, path: string): InvalidMember | null {
  const name = memberNamesIn(body).find((name) => folded(name) === 'promptcacheoptions');
  const options = name === undefined ? null : body[name];
  return name !== undefined && isObject(options)
    ? named(options, ofCacheOptions, `${path}${name}.`, 'leave it out')
    : null;
}

/** A call that an earlier answer asked about. */
function unknownApproval({ input }: JsonObject, path: string): InvalidMember | null {
  const [first] = isList(input) ? unaskedApprovals(input) : [];
  return first === undefined
    ? null
    : refused(`${path}input[${first.at}].approval_request_id`, 'send the item mcp_approval_request before it');
}

/** Members that hold more of the request: vendors' own, and the request whose tokens are to be counted. */
const holders = ['extra_body', 'google', 'generateContentRequest', 'generate_content_request'];
const deepest = 4;

/** The first thing named that a provider keeps; null: there is none. */
export function keptUpstream(body: JsonObject, path = '', depth = 0): InvalidMember | null {
  const whole = 'send the whole conversation and its content';
  const wrong =
    named(body, ofRequests, path, whole) ??
    storedPrompt(body, path) ??
    comparedAnswer(body, path) ??
    inContent(body.system, `${path}system`) ??
    firstOf(isList(body.messages) ? body.messages : [], (message, at) =>
      isObject(message) ? inMessage(message, `${path}messages[${at}]`) : null,
    ) ??
    firstOf(isList(body.input) ? body.input : [], (item, at) =>
      isObject(item) ? inItem(item, `${path}input[${at}]`) : null,
    ) ??
    unknownApproval(body, path) ??
    firstOf(isList(body.tools) ? body.tools : [], (tool, at) =>
      isObject(tool) ? inTool(tool, `${path}tools[${at}]`) : null,
    ) ??
    firstOf(inlineTools(body.messages), (inline) => inTool(inline.tool, path + inline.place)) ??
    anywhere(body.instances, `${path}instances`) ??
    (isList(body.instances) ? anywhere(body.parameters, `${path}parameters`) : null);
  if (wrong !== null || depth === deepest) return wrong;
  return firstOf(holders, (name) => {
    const held = body[name];
    return isObject(held) ? keptUpstream(held, `${path}${name}.`, depth + 1) : null;
  });
}
