import type { Provider, ProviderListing } from '../protocols/protocol.js';
import { ark } from './ark.js';
import { azure } from './azure.js';
import { catalogue } from './catalogue.js';
import { cloudflare } from './cloudflare.js';
import { custom } from './custom.js';
import { dashscope } from './dashscope.js';
import { deepseek } from './deepseek.js';
import { fastgpt } from './fastgpt.js';
import { jina } from './jina.js';
import { lingyi } from './lingyi.js';
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
import { xai } from './xai.js';
import { xinference } from './xinference.js';
import { zhinao } from './zhinao.js';
import { zhipu } from './zhipu.js';

const byType = (a: ProviderListing, b: ProviderListing): number => a.type - b.type;

/** The providers the relay can speak with, by type number. */
export const providers: readonly Provider[] = [
  openai,
  azure,
  ollama,
  ...resellers,
  custom,
  dashscope,
  zhinao,
  openrouter,
  fastgpt,
  moonshot,
  zhipu,
  perplexity,
  lingyi,
  minimax,
  jina,
  cloudflare,
  siliconcloud,
  mistral,
  deepseek,
  moka,
  ark,
  qianfan,
  xinference,
  xai,
].sort(byType);

/** Every provider a channel can be set up for, by type number, whether the relay can speak with it yet or not. */
export const listings: readonly ProviderListing[] = [...providers, ...catalogue].sort(byType);

const types = new Set(listings.map(({ type }) => type));

export const isChannelType = (type: number): boolean => types.has(type);

const known = new Map(providers.map((provider) => [provider.type, provider]));

/** null: the relay does not speak with this type. */
export const providerOf = (type: number): Provider | null => known.get(type) ?? null;
