import type { ModelFacts } from '../../../src/domain/models/fact-kinds.js';

/*
 * What is known of every model with a price or in a provider's list, and of one model for each row of the table: as the
 * rules said that stood in many files before there was a table. Names that share their facts stand together.
 */

export const knownFacts: readonly (readonly [names: string, facts: Partial<ModelFacts>])[] = [
  [
    `
    01-ai/Yi-1.5-34B-Chat-16K 01-ai/Yi-1.5-6B-Chat 01-ai/Yi-1.5-9B-Chat-16K 360GPT_S2_V9 360gpt-turbo
    360gpt-turbo-responsibility-8k @cf/deepseek-ai/deepseek-math-7b-base @cf/deepseek-ai/deepseek-math-7b-instruct
    @cf/defog/sqlcoder-7b-2 @cf/meta/llama-3-8b-instruct @cf/meta/llama-3.1-8b-instruct
    @cf/meta/llama-3.3-70b-instruct-fp8-fast @cf/meta/llama-4-scout-17b-16e-instruct @cf/microsoft/phi-2
    @cf/mistral/mistral-7b-instruct-v0.1 @cf/mistral/mistral-7b-instruct-v0.2-lora @cf/openai/whisper
    @cf/openchat/openchat-3.5-0106 @cf/thebloke/discolm-german-7b-v1-awq @cf/tiiuae/falcon-7b-instruct
    @hf/mistralai/mistral-7b-instruct-v0.2 @hf/nexusflow/starling-lm-7b-beta
    @hf/thebloke/deepseek-coder-6.7b-base-awq @hf/thebloke/deepseek-coder-6.7b-instruct-awq
    @hf/thebloke/llamaguard-7b-awq @hf/thebloke/mistral-7b-instruct-v0.1-awq
    @hf/thebloke/openhermes-2.5-mistral-7b-awq @hf/thebloke/zephyr-7b-beta-awq BLOOMZ-7B
    ERNIE-3.5-4K-0205 ERNIE-3.5-8K ERNIE-3.5-8K-0205 ERNIE-3.5-8K-1222 ERNIE-4.0-8K ERNIE-Bot-8K ERNIE-Lite-8K-0308
    ERNIE-Lite-8K-0922 ERNIE-Speed-128K ERNIE-Speed-8K ERNIE-Tiny-8K FunAudioLLM/SenseVoiceSmall InstantX/InstantID
    MiniMax-M3 MiniMax-Text-01 MiniMax-VL-01 PaLM-2 Pro/01-ai/Yi-1.5-6B-Chat Pro/01-ai/Yi-1.5-9B-Chat-16K
    Pro/THUDM/chatglm3-6b Pro/meta-llama/Meta-Llama-3-8B-Instruct Pro/mistralai/Mistral-7B-Instruct-v0.2
    Spark-4.0-Ultra Spark-Lite Spark-Max Spark-Max-32K Spark-Pro Spark-Pro-128K SparkDesk SparkDesk-v1.1
    SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.5 SparkDesk-v4.0 THUDM/chatglm3-6b TencentARC/PhotoMaker ada babbage
    chatglm_lite chatglm_pro chatglm_std chatglm_turbo code-davinci-edit-001
    codestral-latest curie davinci deepseek-ai/DeepSeek-Coder-V2-Instruct
    deepseek-ai/DeepSeek-V2-Chat deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-V3.1 deepseek-ai/DeepSeek-V3.2
    deepseek-coder ernie-3.5-128k ernie-3.5-8k ernie-3.5-8k-preview ernie-4.0-8k ernie-4.0-8k-latest
    ernie-4.0-8k-preview ernie-4.0-turbo-128k ernie-4.0-turbo-8k ernie-4.0-turbo-8k-latest
    ernie-4.0-turbo-8k-preview ernie-4.5-turbo-128k ernie-4.5-turbo-32k ernie-4.5-turbo-vl-32k ernie-char-8k
    ernie-char-fiction-8k ernie-lite-8k ernie-novel-8k ernie-speed-128k ernie-speed-8k ernie-tiny-8k
    ernie-x1-turbo-32k glm-3-turbo glm-4 glm-4-0520 glm-4-air glm-4-airx glm-4-alltools glm-4-flash glm-4-flashx
    glm-4-long glm-4-plus hunyuan jina-clip-v1 jina-clip-v2
      kimi-k3 llama-3-70b-instruct llama-3-8b-instruct
    llama3-7b llama3.1:8b llama3.3:latest
    llama3:latest meta/llama-4-maverick-17b-128e-instruct-maas meta/llama-4-scout-17b-16e-instruct-maas
    meta/llama3-405b-instruct-maas ministral-14b-latest ministral-3b-latest ministral-8b-latest mistral-large-2512
    mistral-large-latest mistral-medium-2505 mistral-medium-2508 mistral-medium-3 mistral-medium-3.5
    mistral-medium-latest mistral-small-2506 mistral-small-2603 mistral-small-latest mistral:latest
    mixtral-8x7b-instruct mj_blend mj_custom_zoom mj_describe mj_high_variation mj_imagine mj_inpaint
    mj_low_variation mj_modal mj_pan mj_reroll mj_shorten mj_upload mj_upscale mj_variation mj_zoom
    moonshotai/Kimi-K2-Instruct-0905 open-mistral-7b
    open-mixtral-8x7b phi4:latest pixtral-large-latest semantic_similarity_s1_v1
    suno_lyrics suno_music swap_face
    tao-8k text-ada-001 text-babbage-001 text-curie-001 text-davinci-edit-001
     text-search-ada-doc-001 voxtral-mini-latest whisper-1 yi-large yi-large-preview
    yi-large-rag yi-large-rag-preview yi-large-turbo yi-lightning yi-medium yi-medium-200k yi-spark yi-vision
    yi-vl-plus`,
    {},
  ],
  [
    `
    360gpt-pro 360gpt2-pro @hf/nousresearch/hermes-2-pro-mistral-7b deepseek/deepseek-v4-pro ernie-lite-pro-128k
    ernie-speed-pro-128k`,
    { minThinkingLevel: 'low' },
  ],
  [
    `
    @cf/baai/bge-base-en-v1.5 @cf/baai/bge-m3 BAAI/bge-large-en-v1.5 BAAI/bge-large-zh-v1.5 BAAI/bge-m3
     Embedding-V1 bge-large-en bge-large-zh bge-m3 codestral-embed-2505
    intfloat/multilingual-e5-large-instruct-maas intfloat/multilingual-e5-small-maas
    m3e-base m3e-large m3e-small mistral-embed mxbai-embed-large nomic-embed-text`,
    { embeds: true },
  ],
  [
    `
    @cf/google/gemma-2b-it-lora @cf/google/gemma-7b-it-lora @hf/google/gemma-7b-it Pro/google/gemma-2-9b-it`,
    { limits: { output: 8192, context: 131072 }, takesThinking: false },
  ],
  [
    `
    @cf/meta-llama/llama-2-7b-chat-hf-lora @cf/meta/llama-2-7b-chat-fp16 @cf/meta/llama-2-7b-chat-int8
    @cf/tinyllama/tinyllama-1.1b-chat-v1.0 @hf/thebloke/llama-2-13b-chat-awq @hf/thebloke/neural-chat-7b-v3-1-awq
    Pro/THUDM/glm-4-9b-chat Pro/internlm/internlm2_5-7b-chat THUDM/glm-4-9b-chat abab5.5-chat abab5.5s-chat
    abab6-chat abab6.5-chat abab6.5s-chat deepseek-ai/deepseek-llm-67b-chat internlm/internlm2_5-20b-chat
    internlm/internlm2_5-7b-chat llama-3-sonar-large-32k-chat llama-3-sonar-small-32k-chat yi-34b-chat-0205
    yi-34b-chat-200k`,
    { takesEffort: false },
  ],
  [
    '@cf/openai/gpt-oss-120b @cf/openai/gpt-oss-20b openai/gpt-oss-120b openai/gpt-oss-120b-maas',
    { limits: { output: 131072, context: 131072 }, thinksUnasked: true },
  ],
  [
    `
    @cf/qwen/qwen1.5-0.5b-chat @cf/qwen/qwen1.5-1.8b-chat @cf/qwen/qwen1.5-14b-chat-awq @cf/qwen/qwen1.5-7b-chat-awq`,
    {
      separateThinking: { max: 0, when: 'never', budgeted: false },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
      takesEffort: false,
    },
  ],
  [
    '@cf/qwen/qwen3-30b-a3b-fp8 Qwen/Qwen3-32B Qwen/Qwen3-8B',
    {
      separateThinking: { max: 38912, when: 'unless-refused', budgeted: true },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'Doubao-embedding doubao-embedding-large-text-250515',
    {
      separateThinking: { max: 0, when: 'never', budgeted: false },
      separateEverywhere: true,
      embeds: true,
      takesThinking: false,
    },
  ],
  [
    `
    Doubao-lite-128k Doubao-lite-32k Doubao-lite-4k doubao-1-5-lite-32k-250115`,
    { separateThinking: { max: 0, when: 'never', budgeted: false }, separateEverywhere: true },
  ],
  [
    'doubao-seedream-4-0-250828',
    { separateThinking: { max: 0, when: 'never', budgeted: false }, separateEverywhere: true, drawsOnly: true },
  ],
  [
    'Doubao-pro-128k Doubao-pro-32k Doubao-pro-4k doubao-1-5-pro-32k-250115',
    { separateThinking: { max: 0, when: 'never', budgeted: false }, separateEverywhere: true, minThinkingLevel: 'low' },
  ],
  [
    `
    MiniMax-M2 MiniMax-M2.1 MiniMax-M2.5 MiniMax-M2.5-highspeed MiniMax-M2.7 MiniMax-M2.7-highspeed
    minimax/minimax-m2.5`,
    { limits: { output: 131072, context: 204800 } },
  ],
  ['O3', { thinksUnasked: true, pictures: { by: 'tiles', base: 75, tile: 150 } }],
  [
    `
    Pro/Qwen/Qwen1.5-7B-Chat Pro/Qwen/Qwen2-1.5B-Instruct Pro/Qwen/Qwen2-7B-Instruct Qwen/Qwen1.5-110B-Chat
    Qwen/Qwen1.5-14B-Chat Qwen/Qwen1.5-32B-Chat Qwen/Qwen1.5-7B-Chat Qwen/Qwen2-1.5B-Instruct
    Qwen/Qwen2-57B-A14B-Instruct Qwen/Qwen2-72B-Instruct Qwen/Qwen2-7B-Instruct Qwen/Qwen2-Math-72B-Instruct
    Qwen/Qwen3-235B-A22B-Instruct-2507 qwen-coder qwen2.5:7b`,
    {
      separateThinking: { max: 0, when: 'never', budgeted: false },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    `
    BAAI/bge-reranker-v2-m3 bge-reranker-v2-m3 bce-reranker-base jina-reranker-m0 jina-reranker-v2
    jina-reranker-v2-base-multilingual jina-reranker-v3 netease-youdao/bce-reranker-base_v1 gte-rerank-v2 rerank
    rerank-v3.5 rerank-english-v3.0`,
    { reranks: true },
  ],
  [
    'omni-moderation-latest text-moderation-latest text-moderation-stable mistral-moderation-latest',
    { moderates: true },
  ],
  [
    'Qwen/Qwen3-Reranker-8B',
    {
      separateThinking: { max: 81920, when: 'if-asked', budgeted: true },
      reranks: true,
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'Qwen/Qwen3-Embedding-8B',
    {
      separateThinking: { max: 81920, when: 'if-asked', budgeted: true },
      embeds: true,
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'qwen-vl-max qwen-vl-plus qwen3:8b',
    {
      separateThinking: { max: 81920, when: 'if-asked', budgeted: true },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'anthropic.claude-3-haiku-20240307-v1:0',
    {
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'none', budgeted: false, sampling: 'any', schemas: false },
    },
  ],
  [
    `
    anthropic/claude-haiku-4.5 claude-haiku-4-5 claude-haiku-4-5-20251001 claude-opus-4-5 claude-opus-4-5-20251101
    claude-opus-4-5@20251101`,
    {
      limits: { output: 64000, context: 200000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'one', schemas: true },
    },
  ],
  [
    `
    anthropic/claude-opus-4.8 claude-haiku-5-5 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5
    claude-sonnet-5 claude-sonnet-5-5`,
    {
      limits: { output: 128000, context: 1000000 },
      pictures: { by: 'claude', longSide: 2576, patches: 4784, max: 5120 },
      isClaude: true,
      messages: { thinking: 'adaptive', budgeted: false, sampling: 'none', schemas: true },
    },
  ],
  [
    'anthropic/claude-sonnet-4.5 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-5@20250929',
    {
      limits: { output: 64000, context: 1000000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'one', schemas: true },
    },
  ],
  [
    'anthropic/claude-sonnet-4.6 claude-sonnet-4-6',
    {
      limits: { output: 64000, context: 1000000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'adaptive', budgeted: true, sampling: 'any', schemas: true },
    },
  ],
  ['amazon.nova-2-lite-v1:0 us.amazon.nova-2-lite-v1:0', { limits: { output: 65536, context: 1000000 } }],
  ['amazon.nova-premier-v1:0', { limits: { output: 32000, context: 1000000 } }],
  ['amazon.nova-pro-v1:0', { limits: { output: 10000, context: 300000 }, minThinkingLevel: 'low' }],
  ['amazon.nova-lite-v1:0 eu.amazon.nova-lite-v1:0', { limits: { output: 10000, context: 300000 } }],
  ['amazon.nova-micro-v1:0', { limits: { output: 10000, context: 128000 } }],
  ['babbage-002 davinci-002', { limits: { output: 16384, context: 16384 } }],
  [
    `
    chatgpt-4o-latest gpt-4.5-preview gpt-4.5-preview-2025-02-27 gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20
    gpt-4o-all gpt-4o-gizmo-*`,
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'chatgpt-image-latest',
    { hasOwnEncoding: true, isOpenAi: true, takesEffort: false, drawsByToken: 'open', drawsOnly: true },
  ],
  [
    `
    claude-2 claude-2.0 claude-2.1 claude-3-haiku-20240307 claude-3-opus-20240229 claude-3-sonnet-20240229
    claude-instant-1 claude-instant-1.2`,
    {
      limits: { output: 4096, context: 200000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'none', budgeted: false, sampling: 'any', schemas: false },
    },
  ],
  [
    'claude-3-5-haiku-20241022 claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022',
    {
      limits: { output: 8192, context: 200000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'none', budgeted: false, sampling: 'any', schemas: false },
    },
  ],
  [
    'claude-3-7-sonnet-20250219',
    {
      limits: { output: 128000, context: 200000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'any', schemas: false },
    },
  ],
  [
    'claude-3-7-sonnet-20250219-thinking',
    {
      limits: { output: 128000, context: 200000 },
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      testLimit: {},
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'any', schemas: false },
    },
  ],
  [
    'claude-fable-5 claude-fable-5-1',
    {
      limits: { output: 128000, context: 1000000 },
      pictures: { by: 'claude', longSide: 2576, patches: 4784, max: 5120 },
      isClaude: true,
      messages: { thinking: 'adaptive', budgeted: false, sampling: 'none', schemas: true },
      alwaysThinks: true,
    },
  ],
  [
    `
    claude-opus-4-0 claude-opus-4-1 claude-opus-4-1-20250805 claude-opus-4-1@20250805 claude-opus-4-20250514
    claude-opus-4@20250514`,
    {
      limits: { output: 32000, context: 200000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'any', schemas: false },
    },
  ],
  [
    'claude-opus-4-6',
    {
      limits: { output: 128000, context: 1000000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'adaptive', budgeted: true, sampling: 'any', schemas: true },
    },
  ],
  [
    'claude-sonnet-4-0 claude-sonnet-4-20250514 claude-sonnet-4@20250514',
    {
      limits: { output: 64000, context: 1000000 },
      pictures: { by: 'claude', longSide: 1568, patches: 1568, max: 2048 },
      isClaude: true,
      messages: { thinking: 'budget', budgeted: true, sampling: 'any', schemas: false },
    },
  ],
  [
    `
    command command-light command-light-nightly command-nightly command-r command-r-08-2024 command-r-plus
    command-r-plus-08-2024`,
    { limits: { output: 4096, context: 128000 } },
  ],
  ['command-a', { limits: { output: 32768, context: 256000 } }],
  [
    'computer-use-preview',
    { limits: { output: 1024, context: 8192 }, thinksUnasked: true, pictures: { by: 'tiles', base: 65, tile: 129 } },
  ],
  ['deepseek-ai/DeepSeek-R1', { separateThinking: { max: 32768, when: 'always', budgeted: true } }],
  [
    'deepseek-ai/deepseek-v3.2-maas deepseek-v3 deepseek-v3-1-terminus deepseek/deepseek-v3.2',
    { limits: { output: 8192, context: 131072 } },
  ],
  ['deepseek-chat', { limits: { output: 8192, context: 131072 }, takesEffort: false }],
  [
    `
    deepseek-r1 deepseek-r1-250528 deepseek-r1-distill-qwen-14b deepseek-r1-distill-qwen-32b deepseek-r1:8b
    deepseek/deepseek-r1`,
    { limits: { output: 65536, context: 131072 }, separateThinking: { max: 32768, when: 'always', budgeted: true } },
  ],
  [
    'deepseek-reasoner',
    {
      limits: { output: 65536, context: 131072 },
      separateThinking: { max: 32768, when: 'always', budgeted: true },
      thinksUnasked: true,
    },
  ],
  ['deepseek-v4-flash deepseek-v4-flash-vision-exp', { wantsAllReasoning: true }],
  ['deepseek-v4-pro', { wantsAllReasoning: true, minThinkingLevel: 'low' }],
  [
    'doubao-seed-1-6-251015 doubao-seed-1-6-flash-250828 doubao-seed-1-8-251228',
    { separateThinking: { max: 65536, when: 'unless-refused', budgeted: false }, separateEverywhere: true },
  ],
  [
    'doubao-seed-1-6-thinking-250715',
    {
      separateThinking: { max: 65536, when: 'unless-refused', budgeted: false },
      separateEverywhere: true,
      thinksUnasked: true,
      testLimit: { max_tokens: 50 },
    },
  ],
  [
    'doubao-seed-2-0-pro',
    {
      separateThinking: { max: 262144, when: 'unless-refused', budgeted: false },
      separateEverywhere: true,
      minThinkingLevel: 'low',
    },
  ],
  [
    `
    embedding-001 embedding-2 embedding-3 embedding-bert-512-v1 embedding_s1_v1 jina-embeddings-v3
    jina-embeddings-v4 netease-youdao/bce-embedding-base_v1 text-multilingual-embedding-002`,
    { embeds: true, takesThinking: false },
  ],
  [
    'ernie-5.0-thinking-preview',
    {
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      testLimit: { max_tokens: 50 },
    },
  ],
  [
    `
    gemini-1.5-flash gemini-1.5-flash-001 gemini-1.5-flash-002 gemini-1.5-flash-8b gemini-1.5-flash-latest
    gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-exp gemini-2.0-flash-lite gemini-2.0-flash-lite-001
    gemini-2.0-flash-lite-preview`,
    {
      limits: { output: 8192, context: 2097152 },
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
    },
  ],
  [
    'gemini-1.5-pro gemini-1.5-pro-001 gemini-1.5-pro-002 gemini-1.5-pro-latest',
    {
      limits: { output: 8192, context: 2097152 },
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemini-2.0-flash-thinking-exp',
    {
      limits: { output: 65536, context: 2097152 },
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 50 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
    },
  ],
  [
    'gemini-2.0-pro-exp',
    {
      limits: { output: 65536, context: 2097152 },
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemini-2.5-flash',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
    },
  ],
  [
    'gemini-2.5-flash-image',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
      drawsToo: true,
    },
  ],
  [
    'gemini-2.5-flash-lite gemini-2.5-flash-lite-preview-06-17',
    {
      limits: { output: 65536, context: 2097152 },
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      thinkingRange: { min: 512, max: 24576, refusable: true },
    },
  ],
  [
    'gemini-2.5-flash-preview-tts',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
    },
  ],
  [
    'gemini-2.5-pro gemini-2.5-pro-exp-03-25 gemini-2.5-pro-preview-03-25',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      thinkingRange: { min: 128, max: 32768, refusable: false },
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemini-2.5-pro-preview-tts',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      searchesByPrompt: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      takesThinking: false,
      thinkingRange: { min: 128, max: 32768, refusable: false },
      minThinkingLevel: 'low',
    },
  ],
  [
    `
    gemini-3-flash-preview gemini-3.1-flash-lite gemini-3.1-flash-lite-preview gemini-3.5-flash
    gemini-3.5-flash-lite gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash google/gemini-3.5-flash`,
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      thinksByLevel: true,
    },
  ],
  [
    'gemini-3-pro-image-preview',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      thinksByLevel: true,
      minThinkingLevel: 'low',
      drawsToo: true,
    },
  ],
  [
    'gemini-4-argon gemini-4-hydrogen',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      thinksByLevel: true,
    },
  ],
  [
    'gemini-3-pro-preview gemini-3.1-pro-preview',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      thinksByLevel: true,
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemini-3.1-flash-image-preview',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      thinksByLevel: true,
      drawsToo: true,
    },
  ],
  [
    'gemini-3.1-flash-tts-preview',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      takesThinking: false,
      thinksByLevel: true,
    },
  ],
  [
    'gemini-embedding-001 gemini-embedding-2 gemini-embedding-exp-03-07',
    {
      limits: { output: 65536, context: 2097152 },
      embeds: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      takesThinking: false,
    },
  ],
  [
    'gemini-exp-1206',
    {
      limits: { output: 65536, context: 2097152 },
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
    },
  ],
  [
    'gemini-flash-latest gemini-flash-lite-latest',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
    },
  ],
  [
    'gemini-pro gemini-pro-vision',
    {
      limits: { output: 65536, context: 2097152 },
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemini-pro-latest',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'resolution' },
      soundTokensPerSecond: 32,
      minThinkingLevel: 'low',
    },
  ],
  [
    'gemma-3-12b-it gemma-3-27b-it',
    { limits: { output: 8192, context: 131072 }, takesThinking: false, takesInstructions: false },
  ],
  ['gemma3:4b', { takesThinking: false, takesInstructions: false }],
  [
    'glm-4.5 glm-4.5-air glm-4.5v',
    {
      limits: { output: 98304, context: 131072 },
      separateThinking: { max: 131072, when: 'unless-refused', budgeted: true },
    },
  ],
  [
    `
    glm-4.6 glm-4.7 glm-4.7-flash glm-4.7-flashx glm-5 glm-5-turbo glm-5.1 glm-5.2 glm-5.3 glm-5v-turbo z-ai/glm-5`,
    {
      limits: { output: 131072, context: 204800 },
      separateThinking: { max: 131072, when: 'unless-refused', budgeted: true },
    },
  ],
  ['glm-4v glm-4v-flash glm-4v-plus', { pictures: { by: 'squares', base: 1047, each: 0, side: 1, max: 0 } }],
  [
    'google/gemini-2.5-flash',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
    },
  ],
  [
    'google/gemini-2.5-pro',
    {
      limits: { output: 65536, context: 2097152 },
      thinksUnasked: true,
      testLimit: { max_tokens: 300 },
      pictures: { by: 'crops' },
      soundTokensPerSecond: 32,
      thinkingRange: { min: 128, max: 32768, refusable: false },
      minThinkingLevel: 'low',
    },
  ],
  [
    'gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-3.5-turbo-1106',
    { limits: { output: 4096, context: 16385 }, hasOwnEncoding: true, isOpenAi: true, takesEffort: false },
  ],
  [
    'gpt-3.5-turbo-0301',
    {
      limits: { output: 4096, context: 4096 },
      hasOwnEncoding: true,
      messageTokens: { message: 4, name: -1 },
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-3.5-turbo-0613 gpt-3.5-turbo-instruct',
    { limits: { output: 4096, context: 4096 }, hasOwnEncoding: true, isOpenAi: true, takesEffort: false },
  ],
  [
    'gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613',
    { limits: { output: 16385, context: 16385 }, hasOwnEncoding: true, isOpenAi: true, takesEffort: false },
  ],
  [
    'gpt-4 gpt-4-0613',
    {
      limits: { output: 8192, context: 8192 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    `
    gpt-4-0125-preview gpt-4-1106-preview gpt-4-1106-vision-preview gpt-4-all gpt-4-gizmo-* gpt-4-turbo
    gpt-4-turbo-2024-04-09 gpt-4-turbo-preview gpt-4-vision-preview`,
    {
      limits: { output: 4096, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4-32k gpt-4-32k-0613',
    {
      limits: { output: 32768, context: 32768 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4.1 gpt-4.1-2025-04-14',
    {
      limits: { output: 32768, context: 1047576 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4.1-mini gpt-4.1-mini-2025-04-14',
    {
      limits: { output: 32768, context: 1047576 },
      pictures: { by: 'patches', perPatch: 1.62, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4.1-nano gpt-4.1-nano-2025-04-14',
    {
      limits: { output: 32768, context: 1047576 },
      pictures: { by: 'patches', perPatch: 2.46, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-2024-05-13',
    {
      limits: { output: 4096, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-audio-preview gpt-4o-audio-preview-2024-10-01 gpt-4o-audio-preview-2025-06-03',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      audioPrice: { input: '40', output: '80' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-audio-preview-2024-12-17',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      audioPrice: { input: '16', output: '32' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini gpt-4o-mini-2024-07-18',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini-audio-preview',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      audioPrice: { input: '66.666666666667', output: '133.333333333334' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini-realtime-preview gpt-4o-mini-realtime-preview-2024-12-17',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      audioPrice: { input: '16.666666666667', output: '33.333333333334', cached: '0.5' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini-search-preview',
    {
      limits: { output: 16384, context: 128000 },
      searchesAlways: true,
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesTemperature: false,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini-transcribe gpt-4o-mini-transcribe-2025-12-15',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      transcribesByToken: true,
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-mini-tts gpt-4o-mini-tts-2025-12-15',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
      takesThinking: false,
    },
  ],
  [
    'gpt-4o-realtime-preview',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      audioPrice: { input: '20', output: '40', cached: '0.5' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-realtime-preview-2024-10-01',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      audioPrice: { input: '20', output: '40' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-realtime-preview-2024-12-17',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      audioPrice: { input: '8', output: '16', cached: '0.5' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-search-preview',
    {
      limits: { output: 16384, context: 128000 },
      searchesAlways: true,
      pictures: { by: 'tiles', base: 85, tile: 170 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesTemperature: false,
      takesEffort: false,
    },
  ],
  [
    'gpt-4o-transcribe gpt-4o-transcribe-diarize',
    {
      limits: { output: 16384, context: 128000 },
      pictures: { by: 'tiles', base: 85, tile: 170 },
      transcribesByToken: true,
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
    },
  ],
  [
    'gpt-5 gpt-5-2025-08-07',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'minimal',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5-chat-latest',
    {
      limits: { output: 16384, context: 128000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesEffort: false,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5-codex',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'low',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5-mini gpt-5-mini-2025-08-07',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.62, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'minimal',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5-nano gpt-5-nano-2025-08-07',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 2.46, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'minimal',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5-pro',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
      minThinkingLevel: 'low',
    },
  ],
  [
    'gpt-5.1 gpt-5.1-2025-11-13',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.1-chat-latest',
    {
      limits: { output: 16384, context: 128000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      samplesUnthinking: true,
      takesEffort: false,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.1-codex',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'low',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.1-codex-max',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'low',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.1-codex-mini',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.62, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'low',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.2 gpt-5.2-2025-12-11',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.2-chat-latest gpt-5.3-chat-latest',
    {
      limits: { output: 16384, context: 128000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      samplesUnthinking: true,
      takesEffort: false,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.2-codex gpt-5.3-codex',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'low',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.2-pro',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      effortSuffixOf: 'gpt',
      minThinkingLevel: 'low',
    },
  ],
  [
    'gpt-5.4 gpt-5.4-2026-03-05',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'sharp-if-asked' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.4-mini gpt-5.4-mini-2026-03-17',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.62, budget: 'sharp-if-asked' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.4-nano gpt-5.4-nano-2026-03-17',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 2.46, budget: 'sharp-if-asked' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.4-pro',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'sharp-if-asked' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      effortSuffixOf: 'gpt',
      minThinkingLevel: 'low',
    },
  ],
  [
    'gpt-5.5 gpt-5.5-2026-04-23',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'sharp' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-5.6 gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'unbounded' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      samplesUnthinking: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-6-astra gpt-6-luna gpt-6-sol',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'unbounded' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'none',
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'gpt-image-1 gpt-image-1-mini gpt-image-1.5',
    {
      ...{ hasOwnEncoding: true, isOpenAi: true, drawsByToken: 'listed', drawsOnly: true },
      pictures: { by: 'tiles', base: 65, tile: 129 },
    },
  ],
  ['gpt-image-2', { hasOwnEncoding: true, isOpenAi: true, drawsByToken: 'open', drawsOnly: true }],
  [
    `dall-e-2 cogview-3-flash wanx-v1 black-forest-labs/FLUX.1-schnell stabilityai/stable-diffusion-xl-base-1.0
    stabilityai/stable-diffusion-2-1 stabilityai/stable-diffusion-3-medium stabilityai/sdxl-turbo stabilityai/sd-turbo
    ByteDance/SDXL-Lightning`,
    { drawsOnly: true },
  ],
  ['dall-e-3', { drawsInHd: true, drawsOnly: true }],
  [
    'gpt-oss:20b',
    {
      limits: { output: 131072, context: 131072 },
      thinksUnasked: true,
      hasOwnEncoding: true,
      isOpenAi: true,
      minEffort: 'low',
      highestIsHigh: true,
    },
  ],
  [
    'gpt-realtime-1.5',
    {
      limits: { output: 4096, context: 32000 },
      audioPrice: { input: '8', output: '16', cached: '0.1' },
      hasOwnEncoding: true,
      isOpenAi: true,
    },
  ],
  [
    'gpt-realtime-2 gpt-realtime-2.1',
    {
      limits: { output: 32000, context: 128000 },
      audioPrice: { input: '8', output: '16', cached: '0.1' },
      hasOwnEncoding: true,
      isOpenAi: true,
    },
  ],
  [
    'gpt-realtime-mini',
    {
      limits: { output: 4096, context: 128000 },
      audioPrice: { input: '16.666666666667', output: '33.333333333334', cached: '0.5' },
      hasOwnEncoding: true,
      isOpenAi: true,
    },
  ],
  [
    'grok-2-image',
    {
      limits: { output: 32768, context: 131072 },
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      drawsOnly: true,
    },
  ],
  [
    'grok-2 grok-2-vision',
    {
      limits: { output: 32768, context: 131072 },
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
    },
  ],
  [
    'grok-3-beta grok-3-fast-beta',
    {
      limits: { output: 131072, context: 131072 },
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
    },
  ],
  [
    `
    grok-3-mini-beta grok-3-mini-beta-high grok-3-mini-beta-low grok-3-mini-beta-medium grok-3-mini-fast-beta
    grok-3-mini-fast-beta-high grok-3-mini-fast-beta-low grok-3-mini-fast-beta-medium`,
    {
      limits: { output: 131072, context: 131072 },
      thinksUnasked: true,
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      minEffort: 'low',
      effortSuffixOf: 'grok',
      refusesStops: true,
    },
  ],
  [
    'grok-4 grok-4.3 grok-4.5 grok-4.6 grok-code-fast-1',
    { thinksUnasked: true, pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 }, refusesStops: true },
  ],
  [
    'grok-4-fast-non-reasoning',
    {
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
    },
  ],
  [
    'grok-4-fast-reasoning',
    {
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      refusesStops: true,
    },
  ],
  [
    'grok-4.20-non-reasoning',
    {
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      refusesEffort: true,
    },
  ],
  [
    'grok-4.20-reasoning',
    {
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      refusesStops: true,
      refusesEffort: true,
    },
  ],
  ['grok-beta grok-latest grok-vision-beta', { pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 } }],
  ['grok-imagine-image', { pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 }, drawsOnly: true }],
  [
    'grok-imagine-image-pro',
    {
      pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 },
      ...{ minThinkingLevel: 'low', drawsOnly: true },
    },
  ],
  [
    'imagen-3.0-generate-002',
    { limits: { output: 258, context: 4096 }, testLimit: {}, takesThinking: false, drawsOnly: true },
  ],
  [
    'kimi-k2.5 kimi-k2.6 kimi-k2.7-code kimi-k2.7-code-highspeed moonshotai/kimi-k2.6',
    { limits: { output: 262144, context: 262144 } },
  ],
  ['kimi-latest moonshot-v1-128k', { limits: { output: 131072, context: 131072 } }],
  [
    'magistral-medium-2509 magistral-medium-latest magistral-small-2509 magistral-small-latest',
    { thinksUnasked: true },
  ],
  ['moonshot-v1-32k', { limits: { output: 32768, context: 32768 } }],
  ['moonshot-v1-8k', { limits: { output: 8192, context: 8192 } }],
  [
    `
    o1 o1-2024-12-17 o3 o3-2025-04-16 o3-mini o3-mini-2025-01-31 o3-mini-2025-01-31-high o3-mini-2025-01-31-low
    o3-mini-2025-01-31-medium o3-mini-high o3-mini-low o3-mini-medium`,
    {
      limits: { output: 100000, context: 200000 },
      thinksUnasked: true,
      startsSlowly: true,
      testLimit: { max_completion_tokens: 10 },
      pictures: { by: 'tiles', base: 75, tile: 150 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'low',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'o1-mini o1-mini-2024-09-12',
    {
      limits: { output: 65536, context: 128000 },
      thinksUnasked: true,
      startsSlowly: true,
      testLimit: { max_completion_tokens: 10 },
      pictures: { by: 'tiles', base: 75, tile: 150 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      instructionsAs: 'user',
      takesEffort: false,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'o1-preview o1-preview-2024-09-12',
    {
      limits: { output: 32768, context: 128000 },
      thinksUnasked: true,
      startsSlowly: true,
      testLimit: { max_completion_tokens: 10 },
      pictures: { by: 'tiles', base: 75, tile: 150 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      instructionsAs: 'user',
      takesEffort: false,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'o1-pro o3-pro',
    {
      limits: { output: 100000, context: 200000 },
      thinksUnasked: true,
      startsSlowly: true,
      testLimit: { max_completion_tokens: 10 },
      pictures: { by: 'tiles', base: 75, tile: 150 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
      minThinkingLevel: 'low',
    },
  ],
  [
    'o3-deep-research',
    {
      limits: { output: 100000, context: 200000 },
      thinksUnasked: true,
      startsSlowly: true,
      testLimit: { max_completion_tokens: 10 },
      pictures: { by: 'tiles', base: 75, tile: 150 },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  [
    'o4-mini o4-mini-2025-04-16',
    {
      limits: { output: 100000, context: 200000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.72, budget: 'guide' },
      encoding: 'o200k_base',
      hasOwnEncoding: true,
      isOpenAi: true,
      takesReasoningParameters: true,
      minEffort: 'low',
      highestIsHigh: true,
      effortSuffixOf: 'gpt',
    },
  ],
  ['openai/gpt-4.1', { limits: { output: 32768, context: 1047576 }, pictures: { by: 'tiles', base: 85, tile: 170 } }],
  ['openai/gpt-4o', { limits: { output: 16384, context: 128000 }, pictures: { by: 'tiles', base: 85, tile: 170 } }],
  [
    'openai/gpt-4o-mini',
    { limits: { output: 16384, context: 128000 }, pictures: { by: 'tiles', base: 2833, tile: 5667, inflated: true } },
  ],
  [
    'openai/gpt-5',
    {
      limits: { output: 128000, context: 400000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 70, tile: 140 },
    },
  ],
  [
    'openai/gpt-5.4-mini',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.62, budget: 'sharp-if-asked' },
    },
  ],
  [
    'openai/gpt-5.5',
    {
      limits: { output: 128000, context: 1050000 },
      thinksUnasked: true,
      pictures: { by: 'patches', perPatch: 1.2, budget: 'sharp' },
    },
  ],
  [
    'openai/o3',
    {
      limits: { output: 100000, context: 200000 },
      thinksUnasked: true,
      pictures: { by: 'tiles', base: 75, tile: 150 },
    },
  ],
  [
    `
    qwen-flash qwen-max qwen-max-latest qwen-max-longcontext qwen-plus qwen-plus-latest qwen-turbo qwen-turbo-latest`,
    {
      separateThinking: { max: 81920, when: 'if-asked', budgeted: true },
      separateEverywhere: true,
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'qwen/qwen3-max qwen3-max qwen3-max-preview',
    {
      limits: { output: 65536, context: 1000000 },
      separateThinking: { max: 81920, when: 'if-asked', budgeted: true },
      separateEverywhere: true,
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'qwen3-14b qwen3-235b-a22b qwen3-30b-a3b qwen3-32b',
    {
      separateThinking: { max: 38912, when: 'unless-refused', budgeted: true },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
      thinksInStreamsOnly: true,
    },
  ],
  [
    'qwen3-235b-a22b-thinking-2507 qwen3-30b-a3b-thinking-2507 qwen3-next-80b-a3b-thinking',
    {
      separateThinking: { max: 81920, when: 'always', budgeted: true },
      thinksUnasked: true,
      testLimit: { max_tokens: 50 },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'qwen3-coder-flash qwen3-coder-plus',
    {
      limits: { output: 65536, context: 1000000 },
      separateThinking: { max: 0, when: 'never', budgeted: false },
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  [
    'qwen3.7-max',
    {
      separateThinking: { max: 81920, when: 'unless-refused', budgeted: true },
      separateEverywhere: true,
      pictures: { by: 'squares', base: 2, each: 1, side: 28, max: 2560 },
    },
  ],
  ['some-vendor/some-model:online', { searchesAlways: true, readsWhatItFinds: true }],
  ['qwq-32b', { separateThinking: { max: 32768, when: 'always', budgeted: false } }],
  [
    'qwq-plus qwq-plus-latest',
    { separateThinking: { max: 32768, when: 'always', budgeted: false }, separateEverywhere: true },
  ],
  [
    'sonar sonar-deep-research llama-3-sonar-large-32k-online llama-3-sonar-small-32k-online',
    { searchesUnasked: true, readsWhatItFinds: true },
  ],
  ['sonar-pro', { searchesUnasked: true, readsWhatItFinds: true, minThinkingLevel: 'low' }],
  [
    'sonar-reasoning',
    {
      searchesUnasked: true,
      readsWhatItFinds: true,
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
    },
  ],
  [
    'sonar-reasoning-pro',
    {
      searchesUnasked: true,
      readsWhatItFinds: true,
      separateThinking: { max: 131072, when: 'always', budgeted: true },
      thinksUnasked: true,
      minThinkingLevel: 'low',
    },
  ],
  [
    `
    text-embedding-004 text-embedding-005 text-embedding-3-large text-embedding-3-small text-embedding-ada-002
    text-embedding-v1 text-embedding-v2 text-embedding-v3 text-embedding-v4`,
    { embeds: true, hasOwnEncoding: true, takesThinking: false },
  ],
  ['tts-1 tts-1-1106 tts-1-hd tts-1-hd-1106', { speaksByCharacter: true }],
  [
    'x-ai/grok-4 x-ai/grok-4.3',
    { thinksUnasked: true, pictures: { by: 'squares', base: 256, each: 256, side: 448, max: 6 } },
  ],
  ['zai-org/GLM-4.6', { separateThinking: { max: 131072, when: 'unless-refused', budgeted: true } }],
];
