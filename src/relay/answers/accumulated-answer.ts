import { hasEnded } from '../contracts/protocol.js';
import { AnswerAccumulator } from '../protocols/answer-accumulator.js';
import { asCallerTakes } from '../protocols/caller-calls.js';
import type { UpstreamBody } from '../upstream/upstream.js';
import { isUnreadable, type UpstreamError, unreadableAnswer } from '../upstream/upstream-error.js';
import type { AnswerToRead, Read } from './answer-reading.js';
import { brokenOff, noRoomHere, nothingIn } from './lost-answer.js';

/* A whole answer out of messages: for a caller who asked for no stream, of an upstream that has nothing else. */

export async function accumulateAnswer(answered: AnswerToRead, body: Pick<UpstreamBody, 'next'>): Promise<Read> {
  const { provider, channel, caller, info, sending, largeWork, maxBytes, slot } = answered;
  const accumulator = new AnswerAccumulator(info);
  const decoder = provider.protocol.stream({ provider, channel, caller: accumulator.asCaller(caller), info });
  const failed = (error: UpstreamError, costUnknown: boolean): Read => {
    sending.cancel();
    return { ok: false, error, costUnknown };
  };
  let came = 0;
  for (let finished = false; !finished; ) {
    const next = await body.next();
    const bytes = next.value?.length ?? 0;
    came += bytes;
    if (came > maxBytes) return failed(unreadableAnswer('the upstream answer is too large'), true);
    const full = slot.take(bytes);
    if (full !== null) return failed(noRoomHere(full), true);
    const step = next.done ? decoder.end() : decoder.push(next.value);
    // What had come of it by then is work that upstream has done.
    if (step.error !== null) return failed(step.error, decoder.generated.said.length > 0 || isUnreadable(step.error));
    finished = step.finished || (next.done === true && hasEnded(decoder.generated));
    if (next.done && !finished) return failed(brokenOff('read_response_body_failed'), true);
  }
  sending.cancel();
  if (decoder.progress === 0) return nothingIn(decoder, caller);
  return largeWork.run(came, () => {
    const { usage, generated } = decoder;
    const gathered = accumulator.answer();
    asCallerTakes(gathered.body, caller, channel);
    const bytes = caller.dialect.whole(gathered, caller, channel);
    return { ok: true, got: { kind: 'answer', bytes, usage, generated } };
  });
}
