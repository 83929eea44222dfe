/*
 * What is peculiar to a provider, as data: whoever sets up, judges or tests a channel reads it here, and no rule asks
 * which provider it is.
 */

/** What a provider can be asked to do. A caller's endpoint says which of them it needs. */
export type Mode = PaidMode | 'counting';

/**
 * What is charged for. How many tokens a prompt has is answered for nothing, in the words of the provider's own wire.
 */
export type PaidMode =
  | 'chat'
  | 'completions'
  | 'responses'
  | 'embeddings'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'rerank'
  | 'moderation'
  | 'image-generation'
  | 'image-edit'
  | 'realtime'
  | 'task';

/** Those in which a model generates text: only they know tiers of service and tools that a provider runs by itself. */
export const textModes: ReadonlySet<Mode> = new Set<Mode>(['chat', 'completions', 'responses']);

/** Sound both ways, as OpenAI's own interface has it. */
export const soundModes = ['speech', 'transcription', 'translation'] as const satisfies readonly Mode[];

export const isSoundMode = (mode: Mode): boolean => (soundModes as readonly Mode[]).includes(mode);

/** Pictures made and changed, as OpenAI's own interface has it. */
export const imageModes = ['image-generation', 'image-edit'] as const satisfies readonly Mode[];

export const isImageMode = (mode: Mode): boolean => mode === 'image-generation' || mode === 'image-edit';

/** What the field `other` of a channel means. */
interface OtherField {
  readonly hint: string;
  /** A region, or a JSON object of regions by model with a default; without one no call can be made. */
  readonly region: boolean;
  /** What an empty field stands for; empty: nothing. */
  readonly usual: string;
}

export interface KeyForm {
  readonly pattern: RegExp;
  /** In words, for whoever gave something else. */
  readonly allowed: string;
  /** What a key is to be that is made like that and still cannot be one; null: it can. Left out: all can. */
  readonly instead?: (key: string) => string | null;
}

export interface ProviderFacts {
  /** The channel type number. */
  readonly type: number;
  readonly name: string;
  /** Empty: the operator must give one (or the host follows from the key). */
  readonly defaultBaseUrl: string;
  readonly defaultModels: readonly string[];
  /** Label colour; null: not offered for new channels. */
  readonly colour: string | null;
  readonly keyHint: string;
  /** What every key is made like; null: they can be made like anything. */
  readonly keyForm: KeyForm | null;
  /** The key is one document, whatever lines it has. Elsewhere every line is a key. */
  readonly documentKey: boolean;
  /** null: the field means nothing here. */
  readonly other: OtherField | null;
  /** Calls may be billed to an organisation of the account. */
  readonly billsOrganization: boolean;
  /** A dead key is answered with 403, which elsewhere only says that this request is not allowed. */
  readonly forbiddenMeansDead: boolean;
  /** Something small can be asked of it, to see whether it answers. */
  readonly testable: boolean;
  /** It reports the account's balance. */
  readonly reportsBalance: boolean;
  /** It lists the models it has. */
  readonly listsModels: boolean;
  /** Gone or superseded. */
  readonly deprecated: boolean;
  /** What the gateway can ask of it. Empty: it cannot speak with it yet. */
  readonly modes: readonly Mode[];
}

/** By channel type number, in the order of these. */
export type ProviderTable = ReadonlyMap<number, ProviderFacts>;

/** Most providers are like this; each says where it differs. */
export const usual = {
  keyForm: null,
  documentKey: false,
  other: null,
  billsOrganization: false,
  forbiddenMeansDead: false,
  testable: true,
  reportsBalance: false,
  listsModels: true,
  deprecated: false,
} as const satisfies Partial<ProviderFacts>;

/** For most a text of a line or two. */
export const other = (hint: string, rest: Partial<OtherField> = {}): OtherField => ({
  hint,
  region: false,
  usual: '',
  ...rest,
});

/** Channels of other types are kept and shown, and nothing is sent through them. */
export const isServed = ({ modes }: ProviderFacts): boolean => modes.length > 0;

export const servesType = (providers: ProviderTable, type: number): boolean => {
  const provider = providers.get(type);
  return provider !== undefined && isServed(provider);
};
