import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { pathSegment } from '../protocols/model-address.js';
import { openAi } from '../protocols/openai/openai.js';
import { wenxinAuthorisation } from '../protocols/wenxin/access-token.js';
import { isLastOfWenxin, wenxinFailure, wenxinTranslation } from '../protocols/wenxin/answer.js';
import { wenxinRequest } from '../protocols/wenxin/request.js';

/* Baidu's first interface (https://cloud.baidu.com/doc/WENXINWORKSHOP/s/clntwmv7t), which Qianfan's second one replaces. */

/** Names that are others in addresses, as Baidu's own SDK (qianfan 0.4.12) has them. */
const paths: ReadonlyMap<string, string> = new Map([
  ['ERNIE-4.0', 'completions_pro'],
  ['ERNIE-4.0-8K', 'completions_pro'],
  ['ERNIE-Bot-4', 'completions_pro'],
  ['ERNIE-4.0-8K-Preview-0518', 'completions_adv_pro'],
  ['ERNIE-Bot', 'completions'],
  ['ERNIE-3.5-8K', 'completions'],
  ['ERNIE-Bot-turbo', 'eb-instant'],
  ['ERNIE-Lite-8K-0922', 'eb-instant'],
  ['ERNIE-Lite-8K-0308', 'ernie-lite-8k'],
  ['ERNIE-Lite-AppBuilder-8K-0614', 'ai_apaas_lite'],
  ['ERNIE-Speed', 'ernie_speed'],
  ['ERNIE-Speed-8K', 'ernie_speed'],
  ['ERNIE-Bot-8K', 'ernie_bot_8k'],
  ['ERNIE-Character-8K', 'ernie-char-8k'],
  ['ERNIE-Character-Fiction-8K', 'ernie-char-fiction-8k'],
  ['ERNIE-Function-8K', 'ernie-func-8k'],
  ['BLOOMZ-7B', 'bloomz_7b1'],
  ['bge-large-zh', 'bge_large_zh'],
  ['bge-large-en', 'bge_large_en'],
  ['tao-8k', 'tao_8k'],
]);

const pathOf = (model: string): string => paths.get(model) ?? pathSegment(model.toLowerCase());

export const baiduWenxin: Provider = {
  ...usual,
  type: 15,
  name: 'Baidu Wenxin',
  defaultBaseUrl: 'https://aip.baidubce.com',
  defaultModels: modelList(`
    ERNIE-4.0-8K ERNIE-3.5-8K ERNIE-3.5-8K-0205 ERNIE-3.5-8K-1222 ERNIE-Bot-8K ERNIE-3.5-4K-0205 ERNIE-Speed-8K
    ERNIE-Speed-128K ERNIE-Lite-8K-0922 ERNIE-Lite-8K-0308 ERNIE-Tiny-8K BLOOMZ-7B Embedding-V1 bge-large-zh
    bge-large-en tao-8k
  `),
  colour: 'blue',
  keyHint: 'APIKey|SecretKey',
  keyForm: { pattern: /^[^|\s]+\|[^|\s]+$/, allowed: 'APIKey|SecretKey, two parts' },
  listsModels: false,
  deprecated: true,
  modes: ['chat', 'embeddings'],
  authorisation: wenxinAuthorisation,
  protocol: {
    ...openAi({ failure: wenxinFailure, translate: wenxinTranslation, isLast: isLastOfWenxin }),
    request: wenxinRequest(pathOf),
  },
};
