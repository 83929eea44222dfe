import { imageModes, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { withImages } from '../protocols/images/image-wire.js';
import { qianfanImages } from '../protocols/images/qianfan-images.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { urlAt } from '../protocols/openai/request.js';
import type { Target } from '../protocols/openai/variant.js';

/** An app id may follow the key, behind a bar. */
const credentials = (written: string): Record<string, string> => {
  const [key = '', application] = written.trim().split('|');
  return { authorization: `Bearer ${key}`, ...(application && { appid: application }) };
};

const authorize = ({ channel }: Target) => credentials(channel.key);

export const qianfan: Provider = {
  ...usual,
  type: 46,
  name: 'Baidu Qianfan V2',
  defaultBaseUrl: 'https://qianfan.baidubce.com',
  defaultModels: modelList(`
    ernie-5.0-thinking-preview ernie-4.5-turbo-128k ernie-4.5-turbo-32k ernie-4.5-turbo-vl-32k ernie-x1-turbo-32k
    ernie-4.0-8k-latest ernie-4.0-8k-preview ernie-4.0-8k ernie-4.0-turbo-8k-latest ernie-4.0-turbo-8k-preview
    ernie-4.0-turbo-8k ernie-4.0-turbo-128k ernie-3.5-8k-preview ernie-3.5-8k ernie-3.5-128k ernie-speed-8k
    ernie-speed-128k ernie-speed-pro-128k ernie-lite-8k ernie-lite-pro-128k ernie-tiny-8k ernie-char-8k
    ernie-char-fiction-8k ernie-novel-8k deepseek-v3 deepseek-r1 deepseek-r1-distill-qwen-32b
    deepseek-r1-distill-qwen-14b bce-reranker-base qwen3-reranker-8b irag-1.0 qwen-image qwen-image-edit
  `),
  colour: 'blue',
  keyHint: 'bce-v3/… key, with |app id behind it if there is one',
  // Rankings: https://cloud.baidu.com/doc/qianfan-api, at most 64 documents.
  modes: ['chat', 'completions', 'embeddings', 'rerank', ...imageModes],
  models: modelsAt('/v2/models', { headers: ({ key }) => credentials(key) }),
  protocol: withImages(
    openAi({
      url: urlAt({
        chat: '/v2/chat/completions',
        completions: '/v2/completions',
        embeddings: '/v2/embeddings',
        rerank: '/v2/rerank',
      }),
      authorize,
    }),
    qianfanImages({ authorize }),
  ),
};
