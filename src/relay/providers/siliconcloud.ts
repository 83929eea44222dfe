import { imageModes, usual } from '../../domain/channel/provider.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { modelList } from '../catalogue/model-list.js';
import { switchedByFlag } from '../catalogue/reasoning-overhead.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject } from '../json/json.js';
import { amountIn, balanceAt, inYuan, reportsBalance } from '../protocols/balance.js';
import { withImages } from '../protocols/images/image-wire.js';
import { siliconcloudImages } from '../protocols/images/siliconcloud-images.js';
import { openAi } from '../protocols/openai/openai.js';
import { NotReported } from '../protocols/provider-queries.js';

/** Refusals come with status 200. */
const balance = balanceAt('/v1/user/info', ({ code, message, data }) => {
  if (code !== 20_000) throw new NotReported(`code: ${String(code)}, message: ${String(message)}`);
  return inYuan(amountIn(isObject(data) ? data.totalBalance : undefined, 'data.totalBalance'));
});

export const siliconcloud: Provider = {
  ...usual,
  type: 40,
  name: 'SiliconCloud',
  defaultBaseUrl: 'https://api.siliconflow.cn',
  defaultModels: modelList(`
    deepseek-ai/DeepSeek-V3.2 deepseek-ai/DeepSeek-V3.1 deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-R1
    Qwen/Qwen3-235B-A22B-Instruct-2507 Qwen/Qwen3-32B Qwen/Qwen3-8B zai-org/GLM-4.6 moonshotai/Kimi-K2-Instruct-0905
    Qwen/Qwen-Image Qwen/Qwen-Image-Edit-2509 Kwai-Kolors/Kolors Qwen/Qwen3-Embedding-8B Qwen/Qwen3-Reranker-8B THUDM/glm-4-9b-chat stabilityai/stable-diffusion-xl-base-1.0
    TencentARC/PhotoMaker InstantX/InstantID stabilityai/stable-diffusion-2-1 stabilityai/sd-turbo
    stabilityai/sdxl-turbo ByteDance/SDXL-Lightning deepseek-ai/deepseek-llm-67b-chat Qwen/Qwen1.5-14B-Chat
    Qwen/Qwen1.5-7B-Chat Qwen/Qwen1.5-110B-Chat Qwen/Qwen1.5-32B-Chat 01-ai/Yi-1.5-6B-Chat 01-ai/Yi-1.5-9B-Chat-16K
    01-ai/Yi-1.5-34B-Chat-16K THUDM/chatglm3-6b deepseek-ai/DeepSeek-V2-Chat Qwen/Qwen2-72B-Instruct
    Qwen/Qwen2-7B-Instruct Qwen/Qwen2-57B-A14B-Instruct stabilityai/stable-diffusion-3-medium
    deepseek-ai/DeepSeek-Coder-V2-Instruct Qwen/Qwen2-1.5B-Instruct internlm/internlm2_5-7b-chat
    BAAI/bge-large-en-v1.5 BAAI/bge-large-zh-v1.5 Pro/Qwen/Qwen2-7B-Instruct Pro/Qwen/Qwen2-1.5B-Instruct
    Pro/Qwen/Qwen1.5-7B-Chat Pro/THUDM/glm-4-9b-chat Pro/THUDM/chatglm3-6b Pro/01-ai/Yi-1.5-9B-Chat-16K
    Pro/01-ai/Yi-1.5-6B-Chat Pro/google/gemma-2-9b-it Pro/internlm/internlm2_5-7b-chat
    Pro/meta-llama/Meta-Llama-3-8B-Instruct Pro/mistralai/Mistral-7B-Instruct-v0.2 black-forest-labs/FLUX.1-schnell
    FunAudioLLM/SenseVoiceSmall netease-youdao/bce-embedding-base_v1 BAAI/bge-m3 internlm/internlm2_5-20b-chat
    Qwen/Qwen2-Math-72B-Instruct netease-youdao/bce-reranker-base_v1 BAAI/bge-reranker-v2-m3
  `),
  colour: 'purple',
  keyHint: 'API key',
  ...reportsBalance(balance),
  modes: ['chat', 'completions', 'embeddings', 'speech', 'transcription', 'rerank', ...imageModes],
  overheadRule: switchedByFlag,
  protocol: withImages(
    openAi({
      // Those that think unless they are told not to know the switch.
      minThinking: (model) =>
        factsOf(model).separateThinking.when === 'unless-refused' ? { enable_thinking: false } : {},
    }),
    siliconcloudImages,
  ),
};
