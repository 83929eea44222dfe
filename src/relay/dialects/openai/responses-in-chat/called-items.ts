import { parseExactly } from '../../../json/exact-json.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';
import type { ToolForm } from './tool-forms.js';

/* A call of a function as the item that its tool is called by. */

type Status = 'in_progress' | 'completed' | 'incomplete';

/** A call, as far as it has come. */
export interface CalledTool {
  /** Of the item, without what tells its kind. */
  readonly id: string;
  readonly callId: string;
  readonly form: ToolForm;
  /** JSON, as the model wrote it. */
  readonly given: string;
}

const prefixes: Readonly<Record<ToolForm['kind'], string>> = {
  function: 'fc',
  custom: 'ctc',
  local_shell: 'lsh',
  shell: 'sh',
  apply_patch: 'apc',
  tool_search: 'tsc',
};

export const calledItemId = ({ form, id }: Pick<CalledTool, 'form' | 'id'>): string => `${prefixes[form.kind]}_${id}`;

const objectOf = (given: string): JsonObject => {
  const parsed = parseExactly(given);
  return isObject(parsed) ? parsed : {};
};

/** The free text of a custom tool: what is no object was written as it is meant. */
export function inputOf(given: string): string {
  const parsed = given.trimStart().startsWith('{') ? parseExactly(given) : null;
  if (!isObject(parsed)) return given;
  return typeof parsed.input === 'string' ? parsed.input : given;
}

const textsOf = (value: JsonValue | undefined): JsonValue[] => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};

const localShellAction = ({ command, working_directory, timeout_ms }: JsonObject): JsonObject => ({
  type: 'exec',
  command: typeof command === 'string' ? ['bash', '-lc', command] : textsOf(command),
  env: {},
  ...(textIn(working_directory) !== null && { working_directory }),
  ...(typeof timeout_ms === 'number' && { timeout_ms }),
});

const shellAction = ({ commands, timeout_ms, max_output_length }: JsonObject): JsonObject => ({
  commands: textsOf(commands),
  timeout_ms: typeof timeout_ms === 'number' ? timeout_ms : null,
  max_output_length: typeof max_output_length === 'number' ? max_output_length : null,
});

const patchOperation = ({ type, path, diff }: JsonObject): JsonObject => ({
  type: textIn(type) ?? 'update_file',
  path: textIn(path) ?? '',
  ...(type !== 'delete_file' && { diff: textIn(diff) ?? '' }),
});

function membersOf({ form, given }: CalledTool, status: Status): JsonObject {
  const named = { name: form.name, ...(form.namespace !== undefined && { namespace: form.namespace }) };
  const ended = status !== 'in_progress';
  switch (form.kind) {
    case 'function':
      return { ...named, arguments: given };
    case 'custom':
      return { ...named, input: ended ? inputOf(given) : '' };
    case 'local_shell':
      return { action: localShellAction(objectOf(given)) };
    case 'shell':
      return { action: shellAction(objectOf(given)), environment: { type: 'local' } };
    case 'apply_patch':
      return { operation: patchOperation(objectOf(given)) };
    case 'tool_search':
      return { execution: 'client', arguments: objectOf(given) };
  }
}

export const calledItem = (called: CalledTool, status: Status): JsonObject => ({
  id: calledItemId(called),
  type: `${called.form.kind}${called.form.kind === 'custom' ? '_tool' : ''}_call`,
  status,
  call_id: called.callId,
  ...membersOf(called, status),
});

/** Citations as the Responses interface has them. */
export const responseAnnotations = (given: JsonValue | undefined): JsonObject[] =>
  objectsIn(given).map(({ type, url_citation: cited, ...rest }) =>
    isObject(cited) ? { type: type ?? 'url_citation', ...cited } : { type, ...rest },
  );
