import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import {
  openRouterCost,
  perplexityCost,
  type ReportedCost,
  withoutCost,
  xaiCost,
} from '../../../../src/relay/protocols/openai/reported-cost.js';
import { goldens, play } from '../../providers/golden.js';
import { answerSentTo } from '../../providers/received-answer.js';

/* What vendors say that a call has cost: read exactly, believed within bounds, and not shown to callers. */

describe('the cost that a vendor reports', () => {
  test.each<readonly [_name: string, read: ReportedCost, usage: JsonObject, cost: string | null]>([
    ['OpenRouter’s', openRouterCost, { cost: 0.00014205 }, '0.00014205'],
    ['one of less than a millionth', openRouterCost, { cost: 1.5e-9 }, '0.0000000015'],
    ['zero for a free model', openRouterCost, { cost: 0 }, '0'],
    [
      'the fee with what the maker takes by a key of one’s own',
      openRouterCost,
      { cost: 0.0005, is_byok: true, cost_details: { upstream_inference_cost: 0.01 } },
      '0.0105',
    ],
    [
      'the whole where OpenRouter pays the maker',
      openRouterCost,
      { cost: 0.0105, is_byok: false, cost_details: { upstream_inference_cost: 0.01 } },
      '0.0105',
    ],
    ['xAI’s ticks', xaiCost, { cost_in_usd_ticks: 37_756_000 }, '0.0037756'],
    ['Perplexity’s', perplexityCost, { cost: { input_tokens_cost: 0.001, total_cost: 0.006 } }, '0.006'],
  ])('is %s', (_, read, usage, cost) => {
    expect(read(usage)).toBe(cost);
  });

  const odd = [null, '0.1', -0.1, 1e300, 1e-300, Number.NaN, {}, [], true, { total_cost: -1 }, { total_cost: '1' }];
  test.each([
    ['OpenRouter', openRouterCost],
    ['xAI', xaiCost],
    ['Perplexity', perplexityCost],
  ])('is not believed if %s sends something that is no amount', (_, read) => {
    for (const value of odd)
      expect(
        read({ cost: value, cost_in_usd_ticks: value, cost_details: value, is_byok: value }),
        String(value),
      ).toBeNull();
  });
});

describe('a caller of a vendor that reports what it charges', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, cost: 0.25, is_byok: false };
  const received = (cost: JsonObject) => ({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, ...cost },
  });

  test.each<readonly [_name: string, type: number, cost: JsonObject, noted: string]>([
    ['OpenRouter', 20, { cost: 0.25, is_byok: false, cost_details: { upstream_inference_cost: null } }, '0.25'],
    ['xAI', 48, { cost_in_usd_ticks: 5_000_000_000 }, '0.5'],
    ['Perplexity', 27, { cost: { total_cost: 0.006 } }, '0.006'],
  ])('does not receive it in a whole answer of %s, and the operator does', (_, type, cost, noted) => {
    const body = Buffer.from(JSON.stringify(received(cost)));
    const golden = answerSentTo('openai', type, false, body);
    const { provider, channel, caller, info } = golden;
    const answer = provider.protocol.answer({ provider, channel, caller, info, status: 200, headers: {}, body });
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.generated.upstreamCost).toBe(noted);
    expect(JSON.parse(caller.dialect.whole(answer, caller, channel).toString())).toEqual(received({}));
  });

  test('does not receive it with pictures, and the operator does', () => {
    const usage = { cost_in_usd_ticks: 400_000_000 };
    const body = Buffer.from(JSON.stringify({ created: 1, data: [{ url: 'https://pictures.example/1' }], usage }));
    const golden = answerSentTo('openai', 48, false, body);
    const { provider, channel, info } = golden;
    const caller = { ...golden.caller, mode: 'image-generation' as const };
    const answer = provider.protocol.answer({ provider, channel, caller, info, status: 200, headers: {}, body });
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.generated.upstreamCost).toBe('0.04');
    expect(answer).toMatchObject({ untouched: false, body: { created: 1, usage: {} } });
  });

  test('does not receive it in a stream, and the operator does', () => {
    const golden = goldens.find(({ name }) => name === 'openrouter/stream-comments-and-reasoning');
    if (golden === undefined) throw new Error('The recorded answer is missing');
    const { provider, channel, caller, info, upstream } = golden;
    const stream = provider.protocol.stream({ provider, channel, caller, info });
    stream.push(Buffer.from(upstream));
    expect(stream.generated.upstreamCost).toBe('0.25');
    expect(play(golden, [upstream]).answer).not.toContain('cost');
  });

  test('gets the usage of all others unchanged', () => {
    const { cost: _, is_byok: __, ...plain } = usage;
    expect(withoutCost(plain)).toBe(plain);
    expect(withoutCost(usage)).toEqual(plain);
  });
});
