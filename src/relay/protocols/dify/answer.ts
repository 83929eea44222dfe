import type { AnswerMessage, ChunkChoice } from '../../contracts/neutral-answer.js';
import { countIn, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';
import { ThinkingBlock } from './thinking-block.js';

/* Answers and events of Dify's apps in neutral words. */

const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Zeros are no usage: models of one's own are often not counted. */
function usageOf({ metadata }: JsonObject): JsonObject | undefined {
  const { prompt_tokens, completion_tokens, total_tokens } = objectIn(objectIn(metadata).usage);
  return (countIn(prompt_tokens) ?? 0) + (countIn(completion_tokens) ?? 0) > 0
    ? { prompt_tokens, completion_tokens, total_tokens }
    : undefined;
}

/** A workflow reports the sum of all its models; what they have said here is the output of it. */
function usageOfWorkflow(total: JsonValue | undefined, said: SeenText, model: string): JsonObject | undefined {
  const all = countIn(total) ?? 0;
  if (all === 0) return undefined;
  const output = Math.min(said.tokens(model), all);
  return writeOpenAiUsage({ input: all - output, output });
}

/** What a workflow has put out: the text, or all of it. */
function outputsText(outputs: JsonValue | undefined): string {
  if (!isObject(outputs)) return '';
  const { text, answer } = outputs;
  const members = Object.values(outputs);
  const [alone] = members.length === 1 ? members : [];
  return textIn(text) ?? textIn(answer) ?? textIn(alone) ?? (members.length === 0 ? '' : JSON.stringify(outputs));
}

const pictureText = ({ type, url, belongs_to: owner }: JsonObject): string =>
  type === 'image' && owner !== 'user' && /^https?:\/\/[^\s()]+$/i.test(textIn(url) ?? '') ? `![image](${url})` : '';

interface Piece {
  readonly delta: AnswerMessage;
  readonly finish?: string;
  readonly usage?: JsonObject | undefined;
}

class EventReader {
  private readonly block = new ThinkingBlock();
  private readonly said = new SeenText();
  /** An agent ends with its whole answer over again. */
  private pieces = false;
  private replaced = false;

  constructor(private readonly reading: Reading) {}

  event(event: JsonObject): Piece | null {
    const { event: name, answer, data } = event;
    switch (name) {
      case 'agent_message':
        this.pieces = true;
        return this.words(answer);
      case 'message':
        return this.pieces ? null : this.words(answer);
      case 'text_chunk':
        return this.words(objectIn(data).text);
      case 'message_file':
        return this.words(pictureText(event));
      case 'message_replace':
        this.replaced = true;
        return this.words(`\n\n${textIn(answer) ?? ''}`);
      case 'message_end':
        return this.end(usageOf(event));
      case 'workflow_finished':
        return isLastEvent(event) ? this.workflowEnd(objectIn(data)) : null;
      default:
        return null;
    }
  }

  private words(text: JsonValue | undefined): Piece | null {
    const given = textIn(text);
    if (given === null) return null;
    this.said.add(given);
    return pieceOf(this.block.push(given));
  }

  private end(usage: JsonObject | undefined, more = ''): Piece {
    const { thinking, answer } = this.block.rest();
    const { delta } = pieceOf({ thinking, answer: answer + more }) ?? { delta: {} };
    return { delta, finish: this.replaced ? 'content_filter' : 'stop', usage };
  }

  private workflowEnd({ outputs, total_tokens: total }: JsonObject): Piece {
    const text = this.said.length > 0 ? '' : outputsText(outputs);
    this.said.add(text);
    return this.end(usageOfWorkflow(total, this.said, this.reading.info.model), text);
  }
}

const pieceOf = ({ thinking, answer }: { thinking: string; answer: string }): Piece | null => {
  if (thinking === '' && answer === '') return null;
  return {
    delta: { ...(thinking !== '' && { reasoning_content: thinking }), ...(answer !== '' && { content: answer }) },
  };
};

/** Within a conversation the end of its workflow is not yet that of the message. */
export const isLastEvent = ({ event, message_id: message }: JsonObject): boolean =>
  event === 'message_end' || (event === 'workflow_finished' && textIn(message) === null);

function wholeAnswer(reported: JsonObject, { info }: Reading): JsonObject | null {
  const { answer, data } = reported;
  const outputs = isObject(data) ? outputsText(data.outputs) : null;
  const text = typeof answer === 'string' ? answer : outputs;
  if (text === null) return null;
  const block = new ThinkingBlock();
  const begun = block.push(text);
  const rest = block.rest();
  const thinking = begun.thinking + rest.thinking;
  const usage = isObject(data) ? usageOfWorkflow(data.total_tokens, new SeenText(text), info.model) : usageOf(reported);
  const message: AnswerMessage = {
    role: 'assistant',
    content: begun.answer + rest.answer,
    ...(thinking !== '' && { reasoning_content: thinking }),
  };
  return {
    ...headOf(reported, info, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...(usage !== undefined && { usage }),
  };
}

function headOf({ conversation_id: id }: JsonObject, info: Reading['info'], object: string): JsonObject {
  const conversation = textIn(id);
  return {
    id: `chatcmpl-${info.callId}`,
    object,
    created: info.createdAt,
    model: info.model,
    ...(conversation !== null && { conversation_id: conversation }),
  };
}

export const difyTranslator: NonNullable<OpenAiVariant['translator']> = () => {
  let reader: EventReader | null = null;
  let begun = false;
  return (reported, reading) => {
    if (!reading.streamed) return wholeAnswer(reported, reading);
    reader ??= new EventReader(reading);
    const piece = reader.event(reported);
    if (piece === null) return null;
    const { delta, finish = null, usage } = piece;
    const choice: ChunkChoice = {
      index: 0,
      delta: begun ? delta : { role: 'assistant', ...delta },
      finish_reason: finish,
    };
    begun = true;
    return {
      ...headOf(reported, reading.info, 'chat.completion.chunk'),
      choices: [choice],
      ...(usage !== undefined && { usage }),
    };
  };
};
