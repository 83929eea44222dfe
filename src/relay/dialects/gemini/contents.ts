import type { InvalidMember } from '../../contracts/caller-dialect.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import type { PromptTally } from '../../metering/prompt-tally.js';
import { isProvidersFile } from '../../protocols/gemini/media.js';
import { memberIn, objectIn, partsIn } from '../../protocols/gemini/names.js';

/* What the contents of a request hold, to be judged and counted before anybody is asked. */

const perContent = 3;

/** Everything with parts in it: what was said, and the instructions. */
export const contentsIn = (body: JsonObject): JsonObject[] => {
  const instructions = memberIn(body, 'systemInstruction');
  return [...objectsIn(body.contents), ...(instructions === undefined ? [] : [{ parts: partsIn(instructions) }])];
};

/** How closely a model is to look at this part. */
function detailOf(part: JsonObject): JsonObject {
  const level = textIn(objectIn(part, 'mediaResolution')?.level);
  return level === null ? {} : { detail: level.replace('MEDIA_RESOLUTION_', '').toLowerCase() };
}

/** A picture, a sound or a file, as the tally knows them; null: it is none. */
function mediaIn(part: JsonObject): JsonObject | null {
  const inline = objectIn(part, 'inlineData');
  if (inline !== null) {
    const type = textIn(memberIn(inline, 'mimeType')) ?? '';
    const data = textIn(inline.data) ?? '';
    if (type.startsWith('image/')) return { type: 'image_url', image_url: { url: data, ...detailOf(part) } };
    return type.startsWith('audio/')
      ? { type: 'input_audio', input_audio: { data } }
      : { type: 'file', file: { file_data: data } };
  }
  const file = objectIn(part, 'fileData');
  if (file === null) return null;
  const url = textIn(memberIn(file, 'fileUri')) ?? '';
  return (textIn(memberIn(file, 'mimeType')) ?? '').startsWith('image/')
    ? { type: 'image_url', image_url: { url, ...detailOf(part) } }
    : { type: 'file', file: { file_url: url } };
}

/** As many tokens as any context holds. */
const mostTokens = 2_097_152;

/** A caller may say itself how many tokens are to be made of a part. */
function tallyNamedTokens(tally: PromptTally, part: JsonObject): void {
  const resolution = objectIn(part, 'mediaResolution');
  const named = resolution === null ? undefined : memberIn(resolution, 'numTokens');
  if (named === undefined) return;
  const tokens = Math.min(countIn(named) ?? mostTokens, mostTokens);
  tally.count({ expected: 0, conservative: tokens, max: tokens, characters: 0, kind: 'imageInput' });
}

function tallyPart(tally: PromptTally, part: JsonObject): void {
  const media = mediaIn(part);
  tallyNamedTokens(tally, part);
  if (media !== null) tally.part(media);
  tally.text(part.text);
  for (const name of ['functionCall', 'executableCode', 'codeExecutionResult']) tally.text(memberIn(part, name));
  const result = objectIn(part, 'functionResponse');
  if (result === null) return;
  tally.text(result.name);
  tally.text(result.response);
  for (const one of partsIn(result.parts)) tallyPart(tally, one);
}

export function tallyContents(tally: PromptTally, contents: readonly JsonObject[]): void {
  for (const content of contents) {
    tally.fixed += perContent;
    for (const part of partsIn(content)) tallyPart(tally, part);
  }
}

/** Every text in a result, which may have any shape. */
const wordsIn = (value: JsonValue | undefined): string[] => {
  if (typeof value === 'string') return [value];
  if (isList(value)) return value.flatMap(wordsIn);
  return isObject(value) ? Object.values(value).flatMap(wordsIn) : [];
};

const textsOfPart = (part: JsonObject): string[] => {
  const result = objectIn(part, 'functionResponse');
  const said = textIn(part.text) ?? [];
  return result === null
    ? [said].flat()
    : [said, wordsIn(result.response), partsIn(result.parts).flatMap(textsOfPart)].flat();
};

export const textsIn = (contents: readonly JsonObject[]): string[] =>
  contents.flatMap((content) => partsIn(content).flatMap(textsOfPart));

/** `name`: of the list. null: there is nothing to be said against it. */
export function wrongContents(contents: unknown, name: string): InvalidMember | null {
  if (!isList(contents) || contents.length === 0) return { param: name, message: `${name} must be a list of contents` };
  for (const [at, content] of contents.entries()) {
    const wrong = isObject(content)
      ? wrongContent(content, `${name}[${at}]`)
      : { param: `${name}[${at}]`, message: `${name}[${at}] must be an object with parts` };
    if (wrong !== null) return wrong;
  }
  return null;
}

/** What was uploaded to the provider lies in the account of a channel, and is nobody's who asks through the gateway. */
export function wrongContent(content: JsonObject, name: string): InvalidMember | null {
  const parts = partsIn(content);
  if (parts.length === 0) return { param: `${name}.parts`, message: `${name}.parts must be a list of parts` };
  return wrongParts(parts, name);
}

export function wrongParts(parts: readonly JsonObject[], name: string): InvalidMember | null {
  for (const [at, part] of parts.entries()) {
    const file = objectIn(part, 'fileData');
    const path = `${name}.parts[${at}]`;
    if (file !== null && isProvidersFile(textIn(memberIn(file, 'fileUri')) ?? '')) {
      const param = `${path}.fileData.fileUri`;
      const allowed = 'an http(s) address open to everybody; send other files as inlineData';
      return { param, message: `${param} must be ${allowed}` };
    }
    const result = objectIn(part, 'functionResponse');
    if (result !== null && (result.parts ?? null) !== null && !isList(result.parts)) {
      const param = `${path}.functionResponse.parts`;
      return { param, message: `${param} must be a list` };
    }
    const inside = result === null ? null : wrongParts(partsIn(result.parts), `${path}.functionResponse`);
    if (inside !== null) return inside;
  }
  return null;
}
