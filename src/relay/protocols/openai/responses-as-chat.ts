import type { Usage } from '../../../domain/call/usage.js';
import type { ReasoningDetail } from '../../contracts/neutral.js';
import type { ChatChoice, ChatCompletion } from '../../contracts/neutral-answer.js';
import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import {
  type CustomTools,
  callIdOf,
  chatCallOf,
  chatHeadOf,
  citationOf,
  customToolsOf,
  isCall,
  logprobsIn,
  outputTextIn,
  paragraph,
  refusalTextIn,
  sealedIn,
  thoughtsIn,
} from './response-parts.js';
import { responsesAnswer } from './responses-answer.js';
import { writeOpenAiUsage } from './usage.js';
import type { OpenAiVariant } from './variant.js';

/* A complete response as the answer of a chat. */

class Message {
  content = '';
  private refusal = '';
  private reasoning = '';
  private logprobs: JsonObject | null = null;
  private readonly details: ReasoningDetail[] = [];
  private readonly annotations: JsonObject[] = [];
  private readonly calls: JsonObject[] = [];
  private readonly ids = new DistinctCallIds();

  constructor(private readonly custom: CustomTools) {}

  get called(): boolean {
    return this.calls.length > 0;
  }

  add(item: JsonObject): void {
    if (item.type === 'message') this.said(item);
    else if (item.type === 'reasoning') this.thought(item);
    else if (isCall(item, this.custom))
      this.calls.push(chatCallOf(item, this.ids.of(callIdOf(item) || `call_${this.calls.length}`)));
  }

  choice(finish: string | null): ChatChoice {
    const { content, refusal, reasoning, details, annotations, calls, logprobs } = this;
    const silent = content === '' && (calls.length > 0 || refusal !== '');
    return {
      index: 0,
      message: {
        role: 'assistant',
        content: silent ? null : content,
        ...(refusal !== '' && { refusal }),
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(annotations.length > 0 && { annotations }),
      },
      ...(logprobs !== null && { logprobs }),
      finish_reason: finish,
    };
  }

  private said(item: JsonObject): void {
    const text = outputTextIn(item);
    if (text !== '' && this.content !== '') this.content += paragraph;
    for (const part of objectsIn(item.content)) {
      const start = this.content.length;
      if (part.type === 'output_text') this.content += outputTextIn({ content: [part] });
      const citations = objectsIn(part.annotations).map((cited) => citationOf(cited, start));
      this.annotations.push(...citations.filter((one) => one !== null));
    }
    const refusal = refusalTextIn(item);
    if (refusal !== '') this.refusal += (this.refusal === '' ? '' : paragraph) + refusal;
    this.logprobs ??= logprobsIn(item.content);
  }

  private thought(item: JsonObject): void {
    const thoughts = thoughtsIn(item);
    if (thoughts !== '') this.reasoning += (this.reasoning === '' ? '' : paragraph) + thoughts;
    const sealed = sealedIn(item);
    if (sealed !== null) this.details.push(sealed);
  }
}

/** `finish`: as the response reports it, in neutral words; calls end a chat by a word of their own. */
export const chatFinish = (finish: string | null, called: boolean): string | null =>
  called && finish === 'stop' ? 'tool_calls' : finish;

function completionOf(
  response: JsonObject,
  finish: string | null,
  usage: Usage | null,
  { caller, info }: Pick<AnswerInput, 'caller' | 'info'>,
): ChatCompletion {
  const message = new Message(customToolsOf(caller));
  for (const item of objectsIn(response.output)) message.add(item);
  return {
    ...chatHeadOf(response, info),
    object: 'chat.completion',
    choices: [message.choice(chatFinish(finish, message.called))],
    ...(usage !== null && { usage: writeOpenAiUsage(usage) }),
  };
}

export function responsesAsChat(variant: OpenAiVariant, received: AnswerInput): Answer {
  const { caller } = received;
  const answer = responsesAnswer(variant, {
    ...received,
    caller: { ...caller, mode: 'responses', body: { ...caller.body, store: false } },
  });
  if (!answer.ok) return answer;
  const { own: _, body, usage, generated, ...rest } = answer;
  const completion = completionOf(body, generated.finishReason, usage, received);
  const finishReason = textIn(completion.choices[0]?.finish_reason);
  return { ...rest, body: completion, untouched: false, usage, generated: Object.assign(generated, { finishReason }) };
}
