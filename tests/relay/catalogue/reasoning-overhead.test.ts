import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChannelView } from '../../../src/application/ports/storage-ports.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { reasoningOverhead } from '../../../src/relay/catalogue/reasoning-overhead.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import { channelSettings } from '../../support/given/channel-settings.js';

const openai = 1;
const dashscope = 17;
const siliconcloud = 40;
const ark = 45;

const channel = (type: number, paramOverride: JsonObject | null = null): ChannelView => ({
  id: ChannelId(type),
  status: 'enabled',
  settings: channelSettings({ type, paramOverride: paramOverride && JSON.stringify(paramOverride) }),
  secrets: { key: null, proxy: null } as unknown as ChannelView['secrets'],
});

const thinking = (body: JsonObject, model: string, ...channels: readonly ChannelView[]): number =>
  reasoningOverhead({ providerOf, parsedChannel: channelParser() }, body, new Set([model]), channels);

const request = { enable_thinking: true };

describe('the reasoning overhead beyond the output limit', () => {
  test.each([
    ['a budget the request gives', { ...request, thinking_budget: 500 }, 'qwen-plus', dashscope, 500],
    ["the model's longest thinking, where it gives none", request, 'qwen-plus', dashscope, 81_920],
    ['nothing, where the model is not asked to think', {}, 'qwen-plus', dashscope, 0],
    ['nothing, where it is asked not to', { enable_thinking: false }, 'qwen3-32b', dashscope, 0],
    ['the longest of a model that thinks unasked', {}, 'Qwen/Qwen3-32B', siliconcloud, 38_912],
    ['the same of one that cannot be asked not to', { enable_thinking: false }, 'qwq-plus', dashscope, 32_768],
    ['the same of one that keeps to no budget', { thinking_budget: 1 }, 'qwq-plus', dashscope, 32_768],
    ['the same where the budget is none', { thinking_budget: 0 }, 'qwen-plus', dashscope, 81_920],
    ['the same of one that knows another switch', { enable_thinking: false }, 'doubao-seed-1-6-251015', ark, 65_536],
    ['the same of one that knows no budget', { thinking_budget: 1 }, 'doubao-seed-1-6-251015', ark, 65_536],
    ['nothing, once switched off', { thinking: { type: 'disabled' } }, 'doubao-seed-1-6-251015', ark, 0],
    ['nothing, under a limit that counts it', { max_completion_tokens: 9 }, 'doubao-seed-1-6-251015', ark, 0],
    ['what there may be of a model nobody knows', { thinking: { type: 'auto' } }, 'ep-2025-xyz', ark, 131_072],
    ['nothing at vendors whose limit counts it', { reasoning_effort: 'high' }, 'o3', openai, 0],
    ['what is asked for in words only such vendors know', { thinking_budget: 700 }, 'anything', openai, 700],
    ['the longest of a model only such vendors sell', { enable_thinking: false }, 'doubao-seed-1-6', openai, 65_536],
  ] as const)('is %s', (_, body, model, type, max) => {
    expect(thinking(body, model, channel(type))).toBe(max);
  });

  test('is the maximum over all candidate channels', () => {
    const body = { enable_thinking: false };
    expect(thinking(body, 'glm-4.6', channel(openai), channel(siliconcloud))).toBe(0);
    expect(thinking(body, 'glm-4.6', channel(siliconcloud), channel(ark))).toBe(131_072);
  });

  test('is what an operator sets, but no less than what the caller requests', () => {
    expect(thinking({}, 'qwen-plus', channel(dashscope, request))).toBe(81_920);
    expect(thinking(request, 'qwen-plus', channel(dashscope, { enable_thinking: false }))).toBe(81_920);
  });

  test('is a non-negative integer, whatever the request says', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (flag, budget, type) => {
        const body = { enable_thinking: flag, thinking_budget: budget, thinking: { type } } as JsonObject;
        for (const vendor of [dashscope, ark, openai]) {
          const max = thinking(body, 'qwen-plus', channel(vendor));
          expect(Number.isSafeInteger(max) && max >= 0).toBe(true);
        }
      }),
    );
  });
});
