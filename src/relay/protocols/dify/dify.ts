import type { Protocol } from '../../contracts/protocol.js';
import { countIn, isObject, type JsonObject, textIn } from '../../json/json.js';
import { reportedFailure, statusOf } from '../../upstream/upstream-error.js';
import { openAi } from '../openai/openai.js';
import type { OpenAiVariant } from '../openai/variant.js';
import { notServed } from '../request-builder.js';
import { difyTranslator, isLastEvent } from './answer.js';
import { difyApp, difyPaths } from './app.js';
import { difyQuestion } from './request.js';

/* The wire of apps that are built with Dify. */

const failed = (code: string | null, message: string | null, status: number | null) => {
  const known = status !== null && status >= 400 && status <= 599;
  const reported = { message, code, type: null, param: null };
  return { status: known ? status : statusOf(reported), code: code ?? 'upstream_error', message };
};

/** A workflow that fails is answered as one that has run. */
const failure: OpenAiVariant['failure'] = (body: JsonObject) => {
  const { event, data, status } = body;
  if (event === 'error') return failed(textIn(body.code), textIn(body.message), countIn(status));
  const run = isObject(data) && (event === 'workflow_finished' || event === undefined) ? data : null;
  if (run?.status !== 'failed' && run?.status !== 'stopped') return null;
  return failed(null, reportedFailure({ message: run.error }).message ?? `the workflow has ${run.status}`, null);
};

const wire = openAi({
  url: ({ base, channel, caller }) => {
    if (caller.mode !== 'chat') throw notServed(caller.mode);
    return base + difyPaths[difyApp(channel).kind];
  },
  reshape: difyQuestion,
  failure,
  translator: difyTranslator,
  isLast: isLastEvent,
});

export const difyWire: Protocol = {
  ...wire,
  request(asked) {
    const request = wire.request(asked);
    const gathers = difyApp(asked.channel).kind === 'agent' && !asked.caller.stream;
    return gathers ? { ...request, gathers, headers: { ...request.headers, accept: 'text/event-stream' } } : request;
  },
};
