import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../protocols/json.js';
import type { Mode } from '../protocols/protocol.js';
import { countsExactly, countTokens } from '../tokens.js';
import { mediaIn } from './media-tokens.js';

/* What a call may use before anyone has answered. Nothing is fetched, and odd input counts as little as it says. */

const perReply = 3;
const perTools = 8;

interface MessageCost {
  readonly message: number;
  readonly name: number;
}

const messageCost = (model: string): MessageCost =>
  model === 'gpt-3.5-turbo-0301' ? { message: 4, name: -1 } : { message: 3, name: 1 };

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
  readonly media = { likely: 0, ample: 0, most: 0, characters: 0 };

  constructor(
    private readonly model: string,
    private readonly names: ReadonlySet<string>,
  ) {}

  text(value: unknown): void {
    if (typeof value === 'string') this.texts.push(value);
    else if (isObject(value) || isList(value)) this.texts.push(writtenOut(value));
  }

  content(content: JsonValue | undefined): void {
    if (typeof content === 'string') {
      this.text(content);
      return;
    }
    for (const part of isList(content) ? content : [content]) {
      if (typeof part === 'string') this.text(part);
      if (!isObject(part)) continue;
      const media = mediaIn(this.model, this.names, part);
      this.text(part.text ?? part.refusal);
      if (media !== null) {
        this.media.likely += media.likely;
        this.media.ample += media.ample;
        this.media.most += media.most;
        this.media.characters += media.characters;
      }
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

  /** `bytes`: of the whole request. */
  total(bytes: number): PromptEstimate {
    const text = this.fixed + countTokens(this.model, this.texts);
    // No encoding makes more than one token of a byte, and JSON has bytes to spare for what frames a message.
    const mostText = Math.max(bytes - this.media.characters, text);
    const margin = countsExactly(this.model, this.texts) ? ownMargin : foreignMargin;
    const ample = Math.min(Math.max(Math.ceil(text * margin), Math.ceil(mostText / thriftiest)), mostText);
    return {
      likely: text + this.media.likely,
      ample: ample + this.media.ample,
      most: mostText + this.media.most,
    };
  }
}

export interface PromptEstimate {
  /** As near as can be told from here; what is charged when upstream does not say. */
  readonly likely: number;
  /** With a margin for encodings that are not public, and for samples that deceive. */
  readonly ample: number;
  /** What the bytes sent cannot exceed, whatever the encoding. */
  readonly most: number;
}

/** Where our encoding is the model's and every character was counted: templates differ by a little. */
const ownMargin = 1.1;
/** Other vendors' encodings make up to twice as many tokens of the same text; so may text made to look short in samples. */
const foreignMargin = 2;
/** No text that says something has more bytes to a token than this: what the tally does not know of counts at least so. */
const thriftiest = 6;

/** Input tokens of a request of so many bytes. `names`: of the model, as asked for and as channels send it. */
export function estimatePrompt(
  mode: Mode,
  model: string,
  names: ReadonlySet<string>,
  body: JsonObject,
  bytes: number,
): PromptEstimate {
  const tally = new Tally(model, names);
  if (mode === 'chat') {
    const cost = messageCost(model);
    for (const message of objectsIn(body.messages)) tally.message(message, cost);
    tally.tools(body);
    tally.fixed += perReply;
  } else {
    tally.input(mode === 'completions' ? body.prompt : body.input);
    if (mode === 'completions') tally.text(body.suffix);
  }
  return tally.total(bytes);
}

/** How many answers the request asks for: each choice of each prompt, the unseen ones included. */
export function answersAsked(mode: Mode, body: JsonObject): number {
  const choices = Math.max(countIn(body.n) ?? 1, 1);
  if (mode !== 'completions') return choices;
  const { prompt } = body;
  const prompts = isList(prompt) && prompt.some((part) => typeof part !== 'number') ? prompt.length : 1;
  return Math.max(choices, countIn(body.best_of) ?? 1) * prompts;
}

/**
 * The most output tokens the request allows to each answer; null: it does not say. Zero says nothing either, beside
 * another limit neither: some upstreams take it for no limit, and know but one of the names.
 */
export function outputAllowed(body: JsonObject): number | null {
  const given = [countIn(body.max_tokens), countIn(body.max_completion_tokens)].filter((limit) => limit !== null);
  return given.length === 0 || given.includes(0) ? null : Math.max(...given);
}
