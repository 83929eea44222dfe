import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { engineProbe } from '../../../src/relay/probes/engine-probe.js';
import { AccessTokens } from '../../../src/relay/upstream/access-tokens.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { openControlClient } from '../../../src/relay/upstream/control-client.js';
import { openUpstream } from '../../../src/relay/upstream/upstream.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* What is asked of an address, and which engine is recognised by what it answers, as the engines document it. */

let server: Upstream;
let asked: UpstreamCall[];
/** By path: a body, or a status to refuse with. */
let answers: Record<string, unknown>;
const upstream = openUpstream({ connections: 8, guard: null });
const room = new AnswerRoom(2 ** 30);
const clock = settableClock(Instant(Date.parse('2026-11-28T20:00:00Z')));

beforeAll(async () => {
  server = await startUpstream((call, response) => {
    asked.push(call);
    const answer = answers[call.url];
    if (typeof answer === 'number') response.writeHead(answer).end('{"error":"no"}');
    else if (answer === undefined) response.writeHead(404).end('<html>Not Found</html>');
    else response.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
});
afterAll(async () => {
  await upstream.close();
  await server?.stop();
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const probe = (over = upstream) => {
  const sideRequests = openControlClient(over, room, 1_000);
  return engineProbe({ authorising: { clock, sideRequests, accessTokens: new AccessTokens(clock) } });
};
const lookAt = (baseUrl = server.url, key = '') => probe().at({ baseUrl, key, proxy: null });

const listOf = (owner: string, ...ids: readonly string[]) => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: owner })),
});

/** https://github.com/ggml-org/llama.cpp/tree/master/tools/server; it also answers Ollama's clients. */
const llamaCpp = {
  '/props': {
    default_generation_settings: { n_ctx: 4096 },
    total_slots: 1,
    model_path: 'a.gguf',
    build_info: 'b6900-1',
  },
  '/v1/models': listOf('llamacpp', 'a.gguf'),
  '/api/tags': { models: [{ name: 'a.gguf' }] },
};
/** https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html */
const vllm = { '/version': { version: '0.11.0' }, '/v1/models': listOf('vllm', 'Qwen/Qwen3-8B', 'lora-1') };
/** https://docs.sglang.io/basic_usage/native_api.html */
const sglang = {
  '/get_model_info': { model_path: 'Qwen/Qwen3-8B', tokenizer_path: 'Qwen/Qwen3-8B', is_generation: true },
  '/get_server_info': { version: '0.5.4', model_path: 'Qwen/Qwen3-8B' },
  '/v1/models': listOf('sglang', 'Qwen/Qwen3-8B'),
};
/** https://docs.ollama.com/api */
const ollama = {
  '/api/version': { version: '0.13.3' },
  '/api/tags': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b' }] },
  '/v1/models': listOf('library', 'qwen3:8b'),
};
/** https://lmstudio.ai/docs/developer/rest/endpoints */
const lmStudio = {
  '/api/v0/models': {
    object: 'list',
    data: [{ id: 'qwen3-8b', type: 'llm', state: 'not-loaded', quantization: 'Q4' }],
  },
  '/v1/models': listOf('organization_owner', 'qwen3-8b'),
};
/** https://inference.readthedocs.io */
const xinference = {
  '/v1/cluster/version': { version: '1.11.0', 'full-revisionid': '0', dirty: false, error: null },
  '/v1/models': { object: 'list', data: null },
};
/** https://github.com/michaelfeil/infinity, as 0.0.78 answered with `--url-prefix /v1`. */
const infinity = { '/v1/models': listOf('infinity', 'BAAI/bge-m3', 'BAAI/bge-reranker-v2-m3') };
/** https://huggingface.github.io/text-embeddings-inference */
const tei = {
  '/info': {
    model_id: 'BAAI/bge-m3',
    model_type: { embedding: { pooling: 'cls' } },
    version: '1.8.2',
    max_batch_tokens: 1,
  },
};

describe('an engine', () => {
  test.each<readonly [string, string | null, readonly string[], Record<string, unknown>]>([
    ['llama-cpp', 'b6900-1', ['a.gguf'], llamaCpp],
    ['vllm', '0.11.0', ['Qwen/Qwen3-8B', 'lora-1'], vllm],
    ['sglang', '0.5.4', ['Qwen/Qwen3-8B'], sglang],
    ['ollama', '0.13.3', ['qwen3:8b'], ollama],
    ['lm-studio', null, ['qwen3-8b'], lmStudio],
    ['xinference', '1.11.0', [], xinference],
    ['infinity', null, ['BAAI/bge-m3', 'BAAI/bge-reranker-v2-m3'], infinity],
    ['tei', '1.8.2', ['BAAI/bge-m3'], tei],
  ])('is recognised as %s, version %s, with its models', async (id, version, models, said) => {
    answers = said;
    expect(await lookAt(`${server.url}/v1/`)).toEqual({ id, version, models, baseUrl: server.url, needsKey: false });
  });

  test('is recognised by its list alone, where its other paths are closed', async () => {
    answers = { '/v1/models': listOf('llamacpp', 'a.gguf'), '/props': 401 };
    expect(await lookAt()).toMatchObject({ id: 'llama-cpp', version: null, needsKey: true });
  });

  test('receives the key that was typed, and few questions', async () => {
    answers = vllm;
    await lookAt(server.url, 'sk-typed');
    expect(asked.length).toBeLessThanOrEqual(10);
    expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-typed']));
    asked = [];
    await lookAt();
    expect(asked.filter(({ headers }) => 'authorization' in headers)).toEqual([]);
  });
});

test('names that hold the key, or turn the direction of writing, are not listed', async () => {
  answers = { ...vllm, '/v1/models': listOf('vllm', 'one', 'of sk-typed-0123456789', 'turned \u202eround') };
  expect(await lookAt(server.url, 'sk-typed-0123456789')).toMatchObject({ id: 'vllm', models: ['one'] });
});

describe('an address without a known engine', () => {
  test.each<readonly [string, Record<string, unknown>]>([
    ['is another server in OpenAI’s form', { '/v1/models': listOf('me', 'one') }],
    [
      'answers with other types',
      { '/version': [], '/props': 'x', '/info': { model_id: 7 }, '/v1/models': listOf('me', 'one') },
    ],
    ['answers with unusable names', { '/v1/models': listOf('me', 'one', ' two', 'a,b', 'x'.repeat(300), 'n\n') }],
  ])('%s, and its usable models are listed', async (_case, said) => {
    answers = said;
    expect(await lookAt()).toMatchObject({ id: null, models: ['one'] });
  });

  test('has no version that is no version', async () => {
    answers = { ...ollama, '/api/version': { version: '<script>alert(1)</script>' } };
    expect(await lookAt()).toMatchObject({ id: 'ollama', version: null });
  });

  test('is refused where nothing answers, or where the outbound rules forbid it', async () => {
    await expect(lookAt('http://127.0.0.1:9')).rejects.toMatchObject({ code: 'engine-unreached' });
    const guarded = openUpstream({ connections: 2, guard: addressGuard([], async () => []) });
    try {
      await expect(probe(guarded).at({ baseUrl: server.url, key: '', proxy: null })).rejects.toMatchObject({
        code: 'engine-unreached',
        details: { reason: 'the address of the upstream is not allowed' },
      });
      expect(asked).toEqual([]);
    } finally {
      await guarded.close();
    }
  });
});
