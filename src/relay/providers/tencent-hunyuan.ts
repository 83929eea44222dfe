import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Authorisation } from '../contracts/authorisation.js';
import type { Protocol, Provider, UpstreamChannel } from '../contracts/protocol.js';
import { hunyuanFailure, hunyuanTranslation } from '../protocols/hunyuan/answer.js';
import { hunyuanRequest } from '../protocols/hunyuan/request.js';
import { byTc3 } from '../protocols/hunyuan/tc3.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Target } from '../protocols/openai/variant.js';

/*
 * Two interfaces, distinguished by the key: with the three parts of an account's key each call is signed
 * (https://cloud.tencent.com/document/product/1729/105701), with an API key OpenAI's wire is spoken at another host
 * (https://cloud.tencent.com/document/product/1729/111007). Tencent has announced the end of both for 30 September 2026
 * (https://cloud.tencent.com/document/product/1729/131925); its newer models are at TokenHub, in OpenAI's form, which is a
 * base URL of this type.
 */

const finishReasons = new Map([['sensitive', 'content_filter']]);

const signed: Protocol = {
  ...openAi({ failure: hunyuanFailure, translate: hunyuanTranslation, finishReasons }),
  request: hunyuanRequest,
};

const defaultBaseUrl = 'https://hunyuan.tencentcloudapi.com';
const openAiHost = 'https://api.hunyuan.cloud.tencent.com';

/** Its usage comes when it is asked for. The older host has it in the last piece, and no `stream_options` in its documents. */
const isTokenHub = ({ base }: Pick<Target, 'base'>): boolean => /^https:\/\/tokenhub\./.test(base);

const openAiForm = openAi({ finishReasons, usageOnRequest: isTokenHub });

const isSigned = ({ key }: Pick<UpstreamChannel, 'key'>): boolean => key.includes('|');
const interfaceFor = (channel: UpstreamChannel): Protocol => (isSigned(channel) ? signed : openAiForm);

const signature = byTc3('hunyuan');

const authorisation: Authorisation = {
  authorise: (request, to, ports) =>
    isSigned(to.channel) ? signature.authorise(request, to, ports) : { ok: true, request },
};

export const tencentHunyuan: Provider = {
  ...usual,
  type: 23,
  name: 'Tencent Hunyuan',
  defaultBaseUrl,
  defaultModels: modelList(`
    hunyuan-turbos-latest hunyuan-t1-latest hunyuan-large hunyuan-2.0-thinking-20251109 hunyuan-2.0-instruct-20251111
    hunyuan-a13b hunyuan-lite hunyuan-standard hunyuan-standard-256K hunyuan-pro hunyuan-vision hunyuan-embedding hy3
  `),
  colour: 'teal',
  keyHint: 'AppId|SecretId|SecretKey, or an API key of the OpenAI interface',
  keyForm: {
    pattern: /^[^|\s]+(\|[^|\s]+\|[^|\s]+)?$/,
    allowed: 'AppId|SecretId|SecretKey, three parts, or one API key without |',
  },
  listsModels: false,
  modes: ['chat', 'embeddings'],
  authorisation,
  baseUrlOf: (channel) => (isSigned(channel) ? defaultBaseUrl : openAiHost),
  hasNoLimit: ({ key }) => key === undefined || isSigned({ key }),
  protocol: {
    request: (asked) => interfaceFor(asked.channel).request(asked),
    answer: (received) => interfaceFor(received.channel).answer(received),
    stream: (opened) => interfaceFor(opened.channel).stream(opened),
  },
};
