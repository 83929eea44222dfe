import { headerLength, type ImageSize, imageSize } from './image-size.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from './protocols/json.js';
import type { Endpoint } from './protocols/protocol.js';
import { countTokens } from './tokens.js';

/* What a call may cost before anyone has answered. Nothing is fetched, and odd input counts as little as it says. */

const perReply = 3;
const perTools = 8;
const perAudio = 100;
const perFile = 5000;

interface MessageCost {
  readonly message: number;
  readonly name: number;
}

const messageCost = (model: string): MessageCost =>
  model === 'gpt-3.5-turbo-0301' ? { message: 4, name: -1 } : { message: 3, name: 1 };

/** How a family of models counts an image: by tiles of 512, by patches of 32, or flat. */
interface ImageCost {
  readonly base: number;
  readonly tile: number;
  /** Counts patches instead, up to 1536, each times this. */
  readonly perPatch?: number;
}

const usualImage: ImageCost = { base: 85, tile: 170 };

const imageCosts: readonly (readonly [RegExp, ImageCost])[] = [
  [/^gpt-4o-mini/, { base: 2833, tile: 5667 }],
  [/^gpt-(4\.1|5[.\d]*)-mini/, { ...usualImage, perPatch: 1.62 }],
  [/^gpt-(4\.1|5[.\d]*)-nano/, { ...usualImage, perPatch: 2.46 }],
  [/^o4-mini/, { ...usualImage, perPatch: 1.72 }],
  [/^gpt-5/, { base: 70, tile: 140 }],
  [/^o[13]/, { base: 75, tile: 150 }],
  [/^computer-use-preview/, { base: 65, tile: 129 }],
  [/^glm-4v/, { base: 1047, tile: 0 }],
];

const imageCostOf = (model: string): ImageCost => imageCosts.find(([names]) => names.test(model))?.[1] ?? usualImage;

const longSide = 2048;
const shortSide = 768;
const tileSize = 512;
const patchSize = 32;
const mostPatches = 1536;

/** Shrunk to 2048 on the long side, then to 768 on the short one; never enlarged. */
function tilesOf({ width, height }: ImageSize): number {
  const fit = Math.min(1, longSide / Math.max(width, height));
  const shrink = fit * Math.min(1, shortSide / (Math.min(width, height) * fit));
  const tiles = (side: number): number => Math.ceil(Math.round(side * shrink) / tileSize);
  return tiles(width) * tiles(height);
}

const patchesOf = ({ width, height }: ImageSize): number =>
  Math.min(Math.ceil(width / patchSize) * Math.ceil(height / patchSize), mostPatches);

/** The first bytes of an image given inline, as a data URL or as bare base64; null: it lies elsewhere. */
function inlineBytes(source: string): Buffer | null {
  if (/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(source)) return null;
  const comma = source.startsWith('data:') ? source.indexOf(',') : -1;
  return Buffer.from(source.slice(comma + 1, comma + 1 + Math.ceil((headerLength * 4) / 3)), 'base64');
}

function imageTokens(model: string, image: JsonValue | undefined): number {
  const { base, tile, perPatch } = imageCostOf(model);
  if (tile === 0) return base;
  const source = isObject(image) ? textIn(image.url) : textIn(image);
  if (isObject(image) && image.detail === 'low') return base;
  const bytes = source === null ? null : inlineBytes(source);
  const size = bytes && imageSize(bytes);
  // Whoever does not see the image assumes a small one.
  if (!size) return 3 * base;
  return perPatch === undefined ? tilesOf(size) * tile + base : Math.ceil(patchesOf(size) * perPatch);
}

/** As JSON; empty when it is nested so deeply that it cannot be written. */
const writtenOut = (value: JsonValue): string => {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
};

/** Texts to be counted together, and what counts otherwise. */
class Tally {
  readonly texts: string[] = [];
  fixed = 0;

  constructor(private readonly model: string) {}

  text(value: unknown): void {
    if (typeof value === 'string') this.texts.push(value);
    else if (isObject(value) || isList(value)) this.texts.push(writtenOut(value));
  }

  content(content: JsonValue | undefined): void {
    if (!isList(content)) {
      if (typeof content === 'string') this.text(content);
      return;
    }
    for (const part of content) {
      if (typeof part === 'string') this.text(part);
      if (!isObject(part)) continue;
      if (part.type === 'image_url') this.fixed += imageTokens(this.model, part.image_url);
      else if (part.type === 'input_audio') this.fixed += perAudio;
      else if (part.type === 'file') this.fixed += perFile;
      else this.text(part.text);
    }
  }

  message(message: JsonObject, cost: MessageCost): void {
    this.fixed += cost.message;
    this.text(message.role);
    this.content(message.content);
    if (textIn(message.name) !== null && message.content) {
      this.fixed += cost.name;
      this.text(message.name);
    }
    this.text(message.reasoning_content);
    for (const call of objectsIn(message.tool_calls)) this.called(call.function);
    this.called(message.function_call);
  }

  private called(called: JsonValue | undefined): void {
    if (!isObject(called)) return;
    this.text(called.name);
    this.text(called.arguments);
  }

  tools(body: JsonObject): void {
    const offered = [...objectsIn(body.tools).map((tool) => tool.function ?? tool), ...objectsIn(body.functions)];
    const functions = objectsIn(offered);
    if (functions.length > 0) this.fixed += perTools;
    for (const { name, description, parameters } of functions) {
      this.text(name);
      this.text(description);
      this.text(parameters);
    }
  }

  /** Texts, or token ids, or lists of either. */
  input(input: JsonValue | undefined): void {
    for (const part of isList(input) ? input.flat() : [input]) {
      if (typeof part === 'number') this.fixed++;
      else this.text(part);
    }
  }

  total(): number {
    return this.fixed + countTokens(this.model, this.texts);
  }
}

/** Input tokens of a request, as near as can be told from here. */
export function estimatePrompt(endpoint: Endpoint, model: string, body: JsonObject): number {
  const tally = new Tally(model);
  if (endpoint === 'chat') {
    const cost = messageCost(model);
    for (const message of objectsIn(body.messages)) tally.message(message, cost);
    tally.tools(body);
    tally.fixed += perReply;
  } else {
    tally.input(endpoint === 'completions' ? body.prompt : body.input);
    if (endpoint === 'completions') tally.text(body.suffix);
  }
  return tally.total();
}

/** The most output tokens the request allows, over all its choices; null: it does not say. */
export function maxOutputTokens(endpoint: Endpoint, body: JsonObject): number | null {
  if (endpoint === 'embeddings') return 0;
  const given = [countIn(body.max_tokens), countIn(body.max_completion_tokens)].filter((limit) => limit !== null);
  if (given.length === 0) return null;
  const choices = Math.max(countIn(body.n) ?? 1, endpoint === 'completions' ? (countIn(body.best_of) ?? 1) : 1, 1);
  return Math.max(...given) * choices;
}
