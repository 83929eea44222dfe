import { noUsage, plus, type Usage } from '../../../domain/call/usage.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { googleReasoning, type ReasoningDetail, signedToolCall } from '../../contracts/neutral.js';
import type { AnswerHead, AnswerMessage, ChatChoice, ChunkChoice } from '../../contracts/neutral-answer.js';
import { type CallInfo, type Generated, maxChoices } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import {
  countIn,
  isList,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  textIn,
} from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { reportedAnswerId } from '../answer-id.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import { blockReason } from './failure.js';
import { PartialCall } from './partial-call.js';
import { reportedGeminiTier } from './usage.js';

/* What Gemini's models answer, read into the form in the middle: whole, or as far as it has come. */

const maxToolCalls = 1024;

const finishReasons: ReadonlyMap<string, string> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The limit of one request was reached. Only Gemini's clients can ask for the rest.
  ['CONTINUATION', 'length'],
]);

/** What is not known here is one of the reasons for which an answer is withheld. */
const finishReasonOf = (reported: string): string => finishReasons.get(reported) ?? 'content_filter';

/** What one part or several of them say. */
interface Said {
  content: string;
  reasoning: string;
  readonly details: ReasoningDetail[];
  readonly calls: JsonObject[];
  audio: JsonObject | null;
}

const fenced = (language: string, text: string): string => `\n\`\`\`${language}\n${text}\n\`\`\`\n`;

/** Google's maps were looked at for the answer. */
const showsMaps = ({ googleMapsWidgetContextToken: widget, groundingChunks: chunks }: JsonObject): boolean =>
  textIn(widget) !== null || objectsIn(chunks).some(({ maps }) => isObject(maps));

const citations = ({ groundingMetadata: grounding }: JsonObject): JsonObject[] =>
  isObject(grounding)
    ? objectsIn(grounding.groundingChunks).flatMap(({ web }) =>
        isObject(web) && textIn(web.uri) !== null
          ? [{ type: 'url_citation', url_citation: { url: web.uri, title: textIn(web.title) ?? '' } }]
          : [],
      )
    : [];

const neutralProbability = ({ token, logProbability }: JsonObject): JsonObject => ({
  token: textIn(token) ?? '',
  logprob: isNumber(logProbability) ? logProbability : 0,
  bytes: null,
});

/** null: not reported. */
function probabilities({ logprobsResult: reported }: JsonObject): JsonObject | null {
  if (!isObject(reported)) return null;
  const tops = objectsIn(reported.topCandidates);
  const content = objectsIn(reported.chosenCandidates).map((chosen, at) => ({
    ...neutralProbability(chosen),
    top_logprobs: objectsIn(tops[at]?.candidates).map(neutralProbability),
  }));
  return { content };
}

/** The arguments of a call stand in more brackets of a response than these. */
export const outsideCalls = 6;

/** One of the answers. */
class Candidate {
  /** Something of it has come. */
  begun = false;
  /** It has said why it ended. */
  ended = false;
  calls = 0;
  searches = 0;
  mapped = 0;
  partial: PartialCall | null = null;
}

export class GeminiReader implements Generated {
  readonly said = new SeenText();
  toolsBytes = 0;
  toolCalls = 0;
  finishReason: string | null = null;
  serviceTier: string | undefined = undefined;
  answerId: string | undefined = undefined;
  /** It makes no sense, or there is no end to it. */
  endless = false;
  private readonly candidates = new Map<number, Candidate>();
  private readonly ids = new DistinctCallIds();
  /** Google was asked so often, as it is sold. */
  searches: Usage = noUsage;

  /** `mapsAlone`: of what Google searches for, its maps were asked for and nothing else, so all queries are theirs. */
  constructor(
    private readonly info: CallInfo,
    private readonly mapsAlone = false,
  ) {}

  get openChoices(): number {
    let open = 0;
    for (const { ended } of this.candidates.values()) if (!ended) open++;
    return open;
  }

  /** The choices of a response, with a delta each. `whole`: there is no more to come, and no less in each. */
  choices(response: JsonObject, whole: boolean): ChunkChoice[] {
    this.answerId ??= reportedAnswerId(response.responseId, this.info);
    if (blockReason(response) !== null) this.finishReason = 'content_filter';
    if (response.usageMetadata !== undefined)
      this.serviceTier = reportedGeminiTier(response.usageMetadata) ?? this.serviceTier;
    return objectsIn(response.candidates).flatMap((reported, at) => {
      const index = countIn(reported.index) ?? at;
      const candidate = this.candidate(index);
      return candidate === null ? [] : this.choice(reported, index, candidate, whole);
    });
  }

  /** The members that all chunks, or a whole answer, begin with. */
  head<Name extends string>({ responseId, modelVersion }: JsonObject, object: Name): AnswerHead<Name> {
    return {
      id: textIn(responseId) ?? this.info.callId,
      object,
      created: this.info.createdAt,
      model: textIn(modelVersion) ?? this.info.model,
    };
  }

  private candidate(index: number): Candidate | null {
    let found = this.candidates.get(index);
    if (found === undefined && this.candidates.size < maxChoices) {
      found = new Candidate();
      this.candidates.set(index, found);
    }
    return found ?? null;
  }

  private choice(reported: JsonObject, index: number, candidate: Candidate, whole: boolean): ChunkChoice[] {
    const said = this.read(reported, candidate);
    this.count(reported, candidate);
    const reason = textIn(reported.finishReason);
    const annotations = citations(reported);
    const logprobs = probabilities(reported);
    const delta: AnswerMessage = {
      ...(!candidate.begun && { role: 'assistant' }),
      ...((said.content !== '' || !candidate.begun) && { content: said.content }),
      ...(said.reasoning !== '' && { reasoning_content: said.reasoning }),
      ...(said.details.length > 0 && { reasoning_details: said.details }),
      ...(said.calls.length > 0 && { tool_calls: said.calls }),
      ...(said.audio !== null && { audio: said.audio }),
      ...(annotations.length > 0 && { annotations }),
    };
    candidate.begun = true;
    const words = { index, delta, ...(logprobs !== null && { logprobs }) };
    if (reason === null || reason === 'FINISH_REASON_UNSPECIFIED') {
      const nothing = Object.keys(delta).length === 0 && logprobs === null;
      return nothing ? [] : [{ ...words, finish_reason: null }];
    }
    const finished = finishReasonOf(reason);
    candidate.ended = true;
    this.finishReason = finished === 'stop' && candidate.calls > 0 ? 'tool_calls' : finished;
    const finish = { finish_reason: this.finishReason, native_finish_reason: reason };
    if (whole || Object.keys(delta).length === 0) return [{ ...words, ...finish }];
    return [
      { ...words, finish_reason: null },
      { index, delta: {}, ...finish },
    ];
  }

  /** What an answer says of its searches grows, or is repeated. */
  private count({ groundingMetadata: grounding }: JsonObject, candidate: Candidate): void {
    if (!isObject(grounding)) return;
    const queries = isList(grounding.webSearchQueries) ? grounding.webSearchQueries.length : 0;
    const maps = showsMaps(grounding) ? 1 : 0;
    const sold = factsOf(this.info.model).searchesByPrompt ? Math.min(queries, 1) : queries;
    const searches = this.mapsAlone ? 0 : sold;
    const mapped = this.mapsAlone ? Math.max(sold, maps) : maps;
    if (searches > candidate.searches) {
      this.searches = plus(this.searches, 'calls:google_search', searches - candidate.searches);
      candidate.searches = searches;
    }
    if (mapped > candidate.mapped) {
      this.searches = plus(this.searches, 'calls:google_maps', mapped - candidate.mapped);
      candidate.mapped = mapped;
    }
  }

  private read({ content }: JsonObject, candidate: Candidate): Said {
    const said: Said = { content: '', reasoning: '', details: [], calls: [], audio: null };
    for (const part of objectsIn(isObject(content) ? content.parts : null)) this.part(part, said, candidate);
    return said;
  }

  private part(part: JsonObject, said: Said, candidate: Candidate): void {
    const { text, functionCall, inlineData, executableCode: code, codeExecutionResult: outcome } = part;
    const signature = textIn(part.thoughtSignature);
    if (isObject(functionCall)) {
      this.call(functionCall, signature, said, candidate);
      return;
    }
    if (typeof text === 'string') {
      this.said.add(text);
      if (part.thought === true) said.reasoning += text;
      else said.content += text;
    }
    if (isObject(inlineData)) this.media(inlineData, said);
    if (isObject(code))
      this.addText(fenced((textIn(code.language) ?? '').toLowerCase(), textIn(code.code) ?? ''), said);
    if (isObject(outcome)) {
      const text = fenced('output', textIn(outcome.output) ?? '');
      this.toolsBytes += Buffer.byteLength(text);
      this.addText(text, said);
    }
    if (signature !== null)
      said.details.push({ type: 'reasoning.encrypted', data: signature, format: googleReasoning });
  }

  private addText(text: string, said: Said): void {
    this.said.add(text);
    said.content += text;
  }

  /** What it is made of are no words: it is counted by upstream alone. */
  private media({ mimeType, data }: JsonObject, said: Said): void {
    if (typeof data !== 'string') return;
    const type = textIn(mimeType) ?? 'application/octet-stream';
    if (type.startsWith('audio/')) said.audio = { id: `audio_${this.info.callId}`, data, transcript: '' };
    else said.content += `![image](data:${type};base64,${data})`;
  }

  private call(reported: JsonObject, signature: string | null, said: Said, candidate: Candidate): void {
    const name = textIn(reported.name);
    if (name !== null) this.begin(reported, signature, said, candidate);
    const { partial } = candidate;
    if (partial === null) return;
    if (!partial.add(reported.partialArgs)) this.endless = true;
    if (reported.willContinue === true) return;
    candidate.partial = null;
    const given = partial.arguments();
    this.said.add(given);
    said.calls.push({ index: partial.index, function: { arguments: given } });
  }

  private begin(reported: JsonObject, signature: string | null, said: Said, candidate: Candidate): void {
    const name = textIn(reported.name) ?? '';
    const index = candidate.calls++;
    if (this.toolCalls < maxToolCalls) this.toolCalls++;
    const id = this.ids.of(textIn(reported.id) ?? `call_${this.info.callId}_${this.toolCalls - 1}`);
    const goesOn = reported.willContinue === true;
    const given = goesOn ? '' : jsonText(isObject(reported.args) ? reported.args : {});
    candidate.partial = goesOn ? new PartialCall(id, index) : null;
    this.said.add(name);
    this.said.add(given);
    said.calls.push({
      index,
      id,
      type: 'function',
      function: { name, arguments: given },
      ...(signature !== null && signedToolCall(signature)),
    });
  }
}

/** The same as whole messages have it: calls are in their order, and complete. */
export function asMessage({ delta, ...choice }: ChunkChoice): ChatChoice {
  const { tool_calls: calls, content, ...message } = delta;
  const listed = isList(calls) ? objectsIn(calls).map(({ index: _, ...call }): JsonValue => call) : [];
  return {
    ...choice,
    message: {
      ...message,
      content: listed.length > 0 ? textIn(content) : (content ?? ''),
      ...(listed.length > 0 && { tool_calls: listed }),
    },
  };
}
