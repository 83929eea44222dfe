import { expect, test } from 'vitest';
import { usageBound } from '../../../../src/domain/call/usage-bound.js';
import { believedUsage } from '../../../../src/relay/metering/believed-usage.js';
import { type Golden, goldens, play } from '../../providers/golden.js';

/* Usage of llama.cpp, which counts the answers of one request apart; answers as b11434 has given them. */

const recorded = (name: string): Golden => {
  const golden = goldens.find((one) => one.name === `self-hosted/${name}`);
  if (golden === undefined) throw new Error(`no recording ${name}`);
  return golden;
};

function charged({ provider, channel, caller, upstream, info }: Golden) {
  const headers = { 'content-type': 'application/json' };
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: upstream, info });
  if (!answer.ok) throw new Error(answer.error.message);
  const bound = usageBound({ input: 500, output: 500 }, answer.usage ?? {});
  return believedUsage(answer.usage, answer.generated, { bound, promptEstimate: 40, model: 'gpt-4o' });
}

test('two whole answers to one prompt are charged for what was read, and for the words of both', () => {
  // `;Z;xx`, of which the first answer alone is in the usage.
  expect(charged(recorded('llama-cpp-two-answers'))).toEqual({
    usage: { input: 1, cachedInput: 20, output: 4 },
    usageSource: 'estimated',
  });
});

test('two whole answers to two prompts are charged as they are counted here', () => {
  expect(charged(recorded('llama-cpp-two-prompts'))).toEqual({
    usage: { input: 40, output: 4 },
    usageSource: 'estimated',
  });
});

test('what a stream repeats more often than it has answers is not added up', () => {
  const golden = recorded('llama-cpp-two-answers-stream');
  const text = golden.upstream.toString('utf8');
  const last = text.split('\n\n').find((frame) => frame.includes('"choices":[]'));
  const again = text.replace('data: [DONE]', `${`${last}\n\n`.repeat(9)}data: [DONE]`);
  expect(play(golden, [Buffer.from(again)]).usage).toEqual({ input: 1, cachedInput: 20, output: 2 });
});
