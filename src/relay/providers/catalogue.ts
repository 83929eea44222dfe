import { other, type ProviderFacts, usual } from '../../domain/provider.js';
import { modelList } from './model-list.js';

/* Providers the relay does not speak with yet. Channels of earlier releases may name them. */

const listing = (
  type: number,
  name: string,
  colour: string,
  defaultBaseUrl: string,
  keyHint: string,
  defaultModels: readonly string[],
  differences: Partial<ProviderFacts> = {},
): ProviderFacts => ({
  ...usual,
  type,
  name,
  defaultBaseUrl,
  defaultModels,
  colour,
  keyHint,
  modes: [],
  ...differences,
});

/** Interfaces to tasks: nothing small can be asked of them, and they have no list of models. */
const tasks = { testable: false, listsModels: false };
const withoutList = { listsModels: false };

const midjourneyModels = modelList('mj_imagine mj_variation mj_reroll mj_blend mj_upscale mj_describe mj_upload');
const midjourneyPlusModels = modelList(`
  swap_face mj_zoom mj_shorten mj_modal mj_inpaint mj_custom_zoom mj_high_variation mj_low_variation mj_pan
`);

export const catalogue: readonly ProviderFacts[] = [
  listing(2, 'Midjourney Proxy', 'light-blue', 'https://oa.api2d.net', 'secret of the proxy', midjourneyModels, tasks),
  listing(
    5,
    'Midjourney Proxy Plus',
    'blue',
    'https://api.openai-sb.com',
    'secret of the proxy',
    [...midjourneyModels, ...midjourneyPlusModels],
    tasks,
  ),
  listing(
    15,
    'Baidu Wenxin',
    'blue',
    'https://aip.baidubce.com',
    'APIKey|SecretKey',
    modelList(`
    ERNIE-4.0-8K ERNIE-3.5-8K ERNIE-3.5-8K-0205 ERNIE-3.5-8K-1222 ERNIE-Bot-8K ERNIE-3.5-4K-0205 ERNIE-Speed-8K
    ERNIE-Speed-128K ERNIE-Lite-8K-0922 ERNIE-Lite-8K-0308 ERNIE-Tiny-8K BLOOMZ-7B Embedding-V1 bge-large-zh
    bge-large-en tao-8k
  `),
    { ...withoutList, deprecated: true },
  ),
  listing(
    16,
    'Zhipu ChatGLM',
    'violet',
    'https://open.bigmodel.cn',
    'id.secret',
    modelList(`
    chatglm_turbo chatglm_pro chatglm_std chatglm_lite
  `),
    { ...withoutList, deprecated: true },
  ),
  listing(21, 'AI Proxy knowledge base', 'purple', 'https://api.aiproxy.io', 'API key', ['gpt-3.5-turbo', 'gpt-4'], {
    ...withoutList,
    other: other('id of the knowledge base'),
    deprecated: true,
  }),
  listing(
    23,
    'Tencent Hunyuan',
    'teal',
    'https://hunyuan.tencentcloudapi.com',
    'AppId|SecretId|SecretKey',
    modelList(`
    hunyuan-turbos-latest hunyuan-t1-latest hunyuan-large hunyuan-2.0-thinking-20251109 hunyuan-2.0-instruct-20251111
    hunyuan-a13b hunyuan-lite hunyuan-standard hunyuan-standard-256K hunyuan-pro hunyuan-vision hunyuan-embedding
  `),
    withoutList,
  ),
  listing(
    34,
    'Cohere',
    'purple',
    'https://api.cohere.ai',
    'API key',
    modelList(`
    command-a-03-2025 command-a-reasoning-08-2025 command-a-vision-07-2025 command-r7b-12-2024 command-r-plus-04-2024
    command-r command-r-plus command-r-08-2024 command-r-plus-08-2024 c4ai-aya-23-35b c4ai-aya-23-8b command-light
    command-light-nightly command command-nightly rerank-english-v3.0 rerank-multilingual-v3.0 rerank-english-v2.0
    rerank-multilingual-v2.0 rerank-v3.5 embed-v4.0 embed-english-v3.0 embed-multilingual-v3.0
    embed-english-light-v3.0 embed-multilingual-light-v3.0
  `),
  ),
  listing(36, 'Suno', 'purple', '', 'API key of the proxy', ['suno_music', 'suno_lyrics'], tasks),
  listing(37, 'Dify', 'teal', 'https://api.dify.ai', 'API key of one app', ['dify'], withoutList),
];
