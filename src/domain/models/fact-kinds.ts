/* The kinds of facts that are known of models by their names. */

/** Thinking that a vendor does not count against the limit on the output. */
export interface SeparateThinking {
  /** Tokens of one answer's thinking. */
  readonly max: number;
  readonly when: 'never' | 'if-asked' | 'unless-refused' | 'always';
  /** It keeps to the budget a request gives. */
  readonly budgeted: boolean;
}

/** What a model takes at Anthropic's interface. */
export interface MessagesRules {
  /** `adaptive`: it decides how long, and takes an effort; `budget`: it is given tokens, a part of the limit. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** An adaptive one takes a budget, too. */
  readonly budgeted: boolean;
  /** `one`: a temperature or top_p, not both. */
  readonly sampling: 'any' | 'one' | 'none';
  /** It keeps to a JSON schema. */
  readonly schemas: boolean;
}

/** Tokens of thinking that a model can be given at Gemini's interface. */
export interface ThinkingRange {
  readonly min: number;
  readonly max: number;
  /** Its thinking can be turned off. */
  readonly refusable: boolean;
}

/** `guide`: whatever the detail. `sharp-if-asked`: more for the detail `original`. The others: more unless less is asked. */
export type PatchBudgetName = 'guide' | 'sharp-if-asked' | 'sharp' | 'unbounded';

/**
 * How a picture is counted. `tiles`: of 512 pixels, beside a base; `inflated`: to make a cheap model's tokens as dear as
 * another's. `patches`: of 32 pixels, shrunk to a budget. `claude`: patches of 28 pixels within a budget; `max`: as many
 * have been seen. `crops`, `resolution`: Gemini's two ways. `squares`: a base, and `each` for up to `max` squares.
 */
export type PictureTokens =
  | { readonly by: 'tiles'; readonly base: number; readonly tile: number; readonly inflated?: true }
  | { readonly by: 'patches'; readonly perPatch: number; readonly budget: PatchBudgetName }
  | { readonly by: 'claude'; readonly longSide: number; readonly patches: number; readonly max: number }
  | { readonly by: 'crops' | 'resolution' }
  | {
      readonly by: 'squares';
      readonly base: number;
      readonly each: number;
      readonly side: number;
      readonly max: number;
    };

/** Of a token of sound, relative to an input token of text. */
export interface AudioPrice {
  readonly input: string;
  /** Of sound that is found in a cache. Left out: nobody says so, or nothing is. */
  readonly cached?: string;
  readonly output: string;
}

/** Lengths, thinking and search: whoever serves the model. */
interface GeneralFacts {
  /** Tokens of one answer, thinking included, and of prompt and answer together. null: nobody has said so. */
  readonly limits: { readonly output: number; readonly context: number } | null;
  /** Tokens of a prompt, as its maker lists it; null: as many as prompt and answer together. */
  readonly inputLimit: number | null;
  readonly separateThinking: SeparateThinking;
  /** Only vendors that count thinking separately sell it: whoever is asked for it passes the request on to them. */
  readonly separateEverywhere: boolean;
  /** It thinks unasked without showing all of it. */
  readonly thinksUnasked: boolean;
  /** It is silent for long before its first word. */
  readonly startsSlowly: boolean;
  /** It searches once for every answer, and reports nothing of it in its usage. */
  readonly searchesAlways: boolean;
  /** It searches without being asked to, as often as it sees fit, and reports how often. */
  readonly searchesUnasked: boolean;
  /** What it finds by itself comes into its prompt, and is charged as such. */
  readonly readsWhatItFinds: boolean;
  /** Google sells its searches by the prompt. Otherwise by the query. */
  readonly searchesByPrompt: boolean;
  /** The day on which its maker stops serving it, as `2027-01-22`; null: none is announced. */
  readonly retires: string | null;
  /** It makes vectors of texts. */
  readonly embeds: boolean;
  /** It ranks documents. */
  readonly reranks: boolean;
  /** It judges texts and pictures. */
  readonly moderates: boolean;
  /** The limit that a test of a channel sets; empty: none. */
  readonly testLimit: { readonly max_tokens?: number; readonly max_completion_tokens?: number };
}

/** Pictures, sound, and how texts are counted. */
interface CountingFacts {
  /** null: of no known family. */
  readonly pictures: PictureTokens | null;
  /** Of sound in a prompt. */
  readonly soundTokensPerSecond: number;
  /** null: sound costs what text does. */
  readonly audioPrice: AudioPrice | null;
  /** Transcripts are sold by the token. Otherwise by the length of the file. */
  readonly transcribesByToken: boolean;
  /**
   * Pictures that it makes are sold by the token, and it reports these. `listed`: its maker lists how many a picture has;
   * `open`: it takes any size, and its maker says how many only by examples. null: they are sold otherwise.
   */
  readonly drawsByToken: 'listed' | 'open' | null;
  /** It makes pictures in two qualities, of which one is dearer. */
  readonly drawsInHd: boolean;
  /** Speech is sold by the character. Otherwise by the token. */
  readonly speaksByCharacter: boolean;
  readonly encoding: 'o200k_base' | 'cl100k_base';
  /** That encoding is its own: what is counted by it is exact. */
  readonly hasOwnEncoding: boolean;
  /** Of what frames a message of a conversation, and a name in it. */
  readonly messageTokens: { readonly message: number; readonly name: number };
}

/** What it takes at the interfaces of OpenAI's family. */
interface OpenAiFacts {
  /** It is OpenAI's, under its own name. */
  readonly isOpenAi: boolean;
  /** What is written to its cache costs more than input, as of GPT-5.6; before, it costs the same. */
  readonly paysForCacheWrites: boolean;
  /** What is written to be kept for an hour, or for twelve, relative to what is kept for minutes. */
  readonly lastingCacheWrite: string;
  /** A limit as `max_completion_tokens`, and no sampling or penalties. */
  readonly takesReasoningParameters: boolean;
  /** It takes sampling where its thinking is turned off. */
  readonly samplesUnthinking: boolean;
  readonly takesTemperature: boolean;
  /** The role of its first instructions, where it reasons. */
  readonly instructionsAs: 'developer' | 'user';
  readonly takesEffort: boolean;
  /** The least effort it accepts; null: none, or none so low. */
  readonly minEffort: 'none' | 'minimal' | 'low' | null;
  /** It knows no effort above `high`. */
  readonly highestIsHigh: boolean;
  /** It knows `max`, above `xhigh`; of other vendors' models, above `high`. */
  readonly knowsMaxEffort: boolean;
  /** An effort may be a suffix of the name, at the interface of these models' maker. */
  readonly effortSuffixOf: 'gpt' | 'grok' | null;
  /** Grok: stop texts and penalties are refused. */
  readonly refusesStops: boolean;
  /** Grok: an effort is refused. */
  readonly refusesEffort: boolean;
  /** Qwen: it thinks unless its thinking is turned off, and refuses to think outside a stream. */
  readonly thinksInStreamsOnly: boolean;
  /** Its reasoning is to come back with every message of its own. */
  readonly wantsAllReasoning: boolean;
}

/** What it takes at the interfaces of Anthropic and of Google. */
interface OtherInterfaceFacts {
  readonly isClaude: boolean;
  readonly messages: MessagesRules;
  /** Tokens of the shortest prompt that Anthropic keeps in its cache, where it is marked; null: none, or nobody has said. */
  readonly cachesFrom: number | null;
  /** Its thinking cannot be switched off. */
  readonly alwaysThinks: boolean;
  /** Gemini's: it takes parameters of thinking. */
  readonly takesThinking: boolean;
  /** Gemini's: it takes a level instead of a budget, and cannot be kept from thinking altogether. */
  readonly thinksByLevel: boolean;
  readonly thinkingRange: ThinkingRange;
  readonly minThinkingLevel: 'minimal' | 'low';
  /** Gemini's: it knows a level above `high`. */
  readonly knowsXhighLevel: boolean;
  /** Instructions have a place of their own. */
  readonly takesInstructions: boolean;
  /** Pictures are all that it answers. */
  readonly drawsOnly: boolean;
  /** It answers with pictures as well as text. */
  readonly drawsToo: boolean;
}

export interface ModelFacts extends GeneralFacts, CountingFacts, OpenAiFacts, OtherInterfaceFacts {}
