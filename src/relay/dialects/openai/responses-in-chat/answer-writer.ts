import type { Usage } from '../../../../domain/call/usage.js';
import type { AnswerWriter, WholeAnswer } from '../../../contracts/answer-writer.js';
import type { CallerRequest, CallInfo } from '../../../contracts/protocol.js';
import { jsonText } from '../../../json/exact-number.js';
import { countIn, type JsonObject, objectsIn, textIn } from '../../../json/json.js';
import { messageIn } from '../../../protocols/openai/reply.js';
import { writeResponsesUsage } from '../../../protocols/openai/responses-usage.js';
import { Outgoing } from '../../../upstream/sse.js';
import { eventText } from '../../named-events.js';
import { ResponseItems } from './response-items.js';
import { endedResponse, incompleteReason, responseHead } from './response-object.js';
import { toolForms } from './tool-forms.js';

/* Answers of chat for clients of the Responses interface. */

const nothing = Buffer.alloc(0);

const firstChoice = ({ choices }: JsonObject): JsonObject | undefined =>
  objectsIn(choices).find(({ index }) => (index ?? 0) === 0);

/** What an answer tells of its service beside its words. */
const servedBy = ({ service_tier: tier }: JsonObject): JsonObject =>
  textIn(tier) === null ? {} : { service_tier: tier };

/** A stream. Its last event has the whole response with the usage: it is written when the call is settled. */
export class ResponsesChatWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private readonly items: ResponseItems;
  private head: JsonObject;
  private sequence = 0;
  private begun = false;
  private finish: string | null = null;

  constructor(caller: CallerRequest, info: CallInfo) {
    this.head = { ...responseHead(caller, info), model: info.model };
    this.items = new ResponseItems({
      callId: info.callId,
      forms: toolForms(caller.body),
      emit: (type, event) => this.event(type, event),
    });
  }

  get kept(): number {
    return this.items.kept;
  }

  get nextSequence(): number {
    return this.sequence;
  }

  write(chunk: JsonObject): void {
    this.begin(chunk);
    const choice = firstChoice(chunk);
    if (choice === undefined) return;
    const message = messageIn(choice);
    if (message !== null) this.items.delta(message, choice.logprobs);
    this.finish = textIn(choice.finish_reason) ?? this.finish;
  }

  /** No upstream speaks so: what is read comes by `write`. */
  forward(chunk: JsonObject): void {
    this.write(chunk);
  }

  forwardLike(): false {
    return false;
  }

  /** It stands in the last event. */
  usage(): void {}

  take(): Buffer | null {
    return this.outgoing.take();
  }

  closing(usage: Usage): Buffer {
    this.begin({});
    const reason = incompleteReason(this.finish);
    this.items.close(reason === null ? 'completed' : 'incomplete');
    const { output } = this.items;
    const response = endedResponse(this.head, reason, { output, usage: writeResponsesUsage(usage) });
    this.event(`response.${response.status}`, { response });
    return this.outgoing.take() ?? nothing;
  }

  private begin(chunk: JsonObject): void {
    const tier = servedBy(chunk);
    if (tier.service_tier !== undefined) this.head = { ...this.head, ...tier };
    if (this.begun) return;
    this.begun = true;
    const model = textIn(chunk.model);
    if (model !== null) this.head = { ...this.head, model };
    const response = { ...this.head, status: 'in_progress', output: [], usage: null };
    this.event('response.created', { response });
    this.event('response.in_progress', { response });
  }

  private event(type: string, event: JsonObject): void {
    this.outgoing.whole(Buffer.from(eventText(type, { sequence_number: this.sequence++, ...event })));
  }
}

const maxIdLength = 40;

/** Of an answer's own id: it goes into those of its items, which come back. */
const fitId = (id: string): string => id.replace(/[^\w-]/g, '_').slice(0, maxIdLength);

/** A complete answer. */
export function responseOfChat({ body, usage }: WholeAnswer, caller: CallerRequest): Buffer {
  const choice = firstChoice(body) ?? {};
  const callId = caller.conversation?.callId ?? fitId(textIn(body.id) ?? '');
  const items = new ResponseItems({ callId, forms: toolForms(caller.body), emit: () => {} });
  items.delta(messageIn(choice) ?? {}, choice.logprobs);
  const reason = incompleteReason(textIn(choice.finish_reason));
  items.close(reason === null ? 'completed' : 'incomplete');
  const info = { callId, createdAt: countIn(body.created) ?? 0, model: textIn(body.model) ?? '' };
  const head = { ...responseHead(caller, info), model: info.model, ...servedBy(body) };
  const reported = usage === null ? null : writeResponsesUsage(usage);
  return Buffer.from(jsonText(endedResponse(head, reason, { output: items.output, usage: reported })));
}
