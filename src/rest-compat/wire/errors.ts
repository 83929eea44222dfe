import { Failure, type FailureCode } from '../../domain/kernel/failure.js';
import { type Envelope, failure } from './envelope.js';
import { messageOf } from './messages.js';

/* From a "no" to an answer, once. Legacy clients read a message only with status 200: that is where most of them go. */

/** A "no" whose wording or status belongs to one place of the legacy contract. `data` is for programs. */
export class RestRefusal extends Error {
  constructor(
    message: string,
    readonly status = 200,
    readonly data: unknown = null,
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** An order, or what changes something though it is asked like a question, on behalf of a page that is not ours. */
export class ForeignPage extends RestRefusal {
  constructor() {
    super('拒绝来自其他网站的请求', 403);
  }
}

/** How one endpoint words a failure: its text, or its text and status. */
export type Wordings = Readonly<Partial<Record<FailureCode, string | readonly [text: string, status: number]>>>;

/** Endpoints that answer every malformed request with one sentence. */
export const oneSentence = (sentence: string, status = 200): Wordings => ({
  'invalid-body': [sentence, status],
  'invalid-field': [sentence, status],
});

/** What the contract says to an empty, misspelt or mistyped body where it gives no sentence of its own. */
export const badParameter = '无效的参数';

/** Names of fields, and the key to ask again with. */
export const detailsOf = ({ code, kind, details }: Failure): unknown =>
  (kind === 'invalid' || code === 'outcome-unknown') && Object.keys(details).length > 0 ? details : null;

/** What the contract calls a field that the system names otherwise, as far as one endpoint has it. */
export type FieldNames = Readonly<Record<string, string>>;

/** Details that name a field. */
const naming = ['field', 'changed'] as const;

/** `modelLimits.3` → `model_limits.3` */
const nameIn = (names: FieldNames, field: string): string => {
  const [, first = '', rest = ''] = /^([^.]*)(.*)$/s.exec(field) ?? [];
  return Object.hasOwn(names, first) ? `${names[first]}${rest}` : field;
};

export function renamedFields(thrown: unknown, names: FieldNames): unknown {
  if (!(thrown instanceof Failure)) return thrown;
  const { code, details } = thrown;
  const present = naming.filter((name) => details[name] !== undefined);
  const fields = Object.fromEntries(present.map((name) => [name, nameIn(names, String(details[name]))]));
  return new Failure(code, { ...details, ...fields });
}

/** The failure in the endpoint's own words; anything else as it is. */
export function worded(thrown: unknown, wordings: Wordings, fields: FieldNames): unknown {
  const error = renamedFields(thrown, fields);
  if (!(error instanceof Failure)) return error;
  const wording = wordings[error.code];
  if (wording === undefined) return error;
  const [text, status] = typeof wording === 'string' ? [wording, 200] : wording;
  return new RestRefusal(text, status, detailsOf(error));
}

/** An expected "no" as status and body; null: a bug, which the caller must not see. */
export function refusalAnswer(error: unknown): { readonly status: number; readonly body: Envelope } | null {
  if (error instanceof RestRefusal) return { status: error.status, body: failure(error.message, error.data) };
  if (error instanceof Failure) return { status: 200, body: failure(messageOf(error), detailsOf(error)) };
  return null;
}

/** The OpenAI-style object that unknown paths and crashes are answered with. */
export const errorObject = (message: string, type: string) => ({ error: { message, type, param: '', code: '' } });
