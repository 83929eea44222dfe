import type { ProviderFacts, ProviderTable } from '../../domain/channel/provider.js';
import type { Provider } from '../contracts/protocol.js';
import { aiProxyLibrary } from './ai-proxy-library.js';
import { anthropicProvider } from './anthropic-claude.js';
import { ark } from './ark.js';
import { awsClaude } from './aws-claude.js';
import { azure } from './azure.js';
import { baiduWenxin } from './baidu-wenxin.js';
import { cloudflare } from './cloudflare.js';
import { cohere } from './cohere.js';
import { custom } from './custom.js';
import { dashscope } from './dashscope.js';
import { deepseek } from './deepseek.js';
import { dify } from './dify.js';
import { fastgpt } from './fastgpt.js';
import { googleGemini } from './google-gemini.js';
import { googlePalm } from './google-palm.js';
import { googleVertex } from './google-vertex.js';
import { jina } from './jina.js';
import { lingyi } from './lingyi.js';
import { midjourneyProxy, midjourneyProxyPlus } from './midjourney-proxies.js';
import { minimax } from './minimax.js';
import { mistral } from './mistral.js';
import { moka } from './moka.js';
import { moonshot } from './moonshot.js';
import { ollama } from './ollama.js';
import { openai } from './openai.js';
import { openrouter } from './openrouter.js';
import { perplexity } from './perplexity.js';
import { qianfan } from './qianfan.js';
import { resellers } from './resellers.js';
import { siliconcloud } from './siliconcloud.js';
import { sunoServer } from './suno-server.js';
import { tencentHunyuan } from './tencent-hunyuan.js';
import { xai } from './xai.js';
import { xinference } from './xinference.js';
import { xunfei } from './xunfei.js';
import { zhinao } from './zhinao.js';
import { zhipu } from './zhipu.js';
import { zhipuChatglm } from './zhipu-chatglm.js';

const byType = (a: ProviderFacts, b: ProviderFacts): number => a.type - b.type;

/** The providers the relay can speak with, by type number. */
export const providers: readonly Provider[] = [
  openai,
  azure,
  ollama,
  ...resellers,
  midjourneyProxy,
  midjourneyProxyPlus,
  custom,
  googlePalm,
  dashscope,
  baiduWenxin,
  zhipuChatglm,
  aiProxyLibrary,
  xunfei,
  zhinao,
  openrouter,
  anthropicProvider,
  awsClaude,
  fastgpt,
  tencentHunyuan,
  moonshot,
  googleGemini,
  zhipu,
  perplexity,
  lingyi,
  cohere,
  minimax,
  sunoServer,
  dify,
  jina,
  cloudflare,
  siliconcloud,
  googleVertex,
  mistral,
  deepseek,
  moka,
  ark,
  qianfan,
  xinference,
  xai,
].sort(byType);

export const providerTable: ProviderTable = new Map(providers.map((provider) => [provider.type, provider]));

const known = new Map(providers.map((provider) => [provider.type, provider]));

/** null: the relay does not speak with this type. */
export const providerOf = (type: number): Provider | null => known.get(type) ?? null;
