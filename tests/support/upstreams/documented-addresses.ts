import type { AnsweredMode, FormOfAnswers } from './form-of-answers.js';
import { formsOfAnswers } from './form-of-answers.js';

/*
 * Where vendors document that they are asked, and how they are shown a key: written down here apart from the gateway's own
 * table, so that a mistake in one is seen.
 */

export interface DocumentedAddress {
  readonly type: number;
  readonly key: string;
  readonly other?: string;
  /** Of the address of a channel, behind the host. Left out: nothing. */
  readonly below?: string;
  /** The header that shows the key, and what it says. Left out: a bearer token. */
  readonly shown?: readonly [header: string, value: string];
  readonly form: FormOfAnswers;
  /** By mode: path and query; `MODEL` stands for the model. */
  readonly paths: Partial<Record<AnsweredMode, string>>;
  /** The path of streams, where it is another one. */
  readonly streams?: string;
}

const { openAi, completesAsChat, anthropic, gemini } = formsOfAnswers;
const key = 'sk-planted-0123456789';

const usual = { chat: '/v1/chat/completions', completions: '/v1/completions', embeddings: '/v1/embeddings' };
const chatAlone = { chat: usual.chat };
const rerank = '/v1/rerank';
const moderation = '/v1/moderations';
const withoutEmbeddings = { chat: usual.chat, completions: usual.completions };
const deployment = '/openai/deployments/MODEL';
const version = '?api-version=2024-10-21';
const cloudflare = '/client/v4/accounts/acct0123/ai/v1';

const rows: readonly (Omit<DocumentedAddress, 'form' | 'key'> & Partial<DocumentedAddress>)[] = [
  ...[1, 6, 7, 9, 10, 12, 13].map((type) => ({ type, paths: { ...usual, moderation } })),
  { type: 47, paths: { ...usual, rerank } },
  {
    type: 3,
    other: '2024-10-21',
    shown: ['api-key', key],
    paths: {
      chat: `${deployment}/chat/completions${version}`,
      completions: `${deployment}/completions${version}`,
      embeddings: `${deployment}/embeddings${version}`,
    },
  },
  ...(['chat', 'completions', 'embeddings'] as const).map((mode) => ({
    ...{ type: 8, below: `/its/own/${mode}`, paths: { [mode]: `/its/own/${mode}` } },
  })),
  { type: 8, below: '/its/own/rerank', paths: { rerank: '/its/own/rerank' } },
  { type: 8, below: '/its/own/moderations', paths: { moderation: '/its/own/moderations' } },
  { type: 14, shown: ['x-api-key', key], form: anthropic, paths: { chat: '/v1/messages' } },
  {
    type: 17,
    paths: {
      chat: '/compatible-mode/v1/chat/completions',
      completions: '/compatible-mode/v1/completions',
      rerank: '/api/v1/services/rerank/text-rerank/text-rerank',
    },
  },
  // The interfaces of either that take one key alone.
  ...[18, 23].map((type) => ({ type, paths: chatAlone })),
  { type: 19, paths: { chat: usual.chat, embeddings: usual.embeddings } },
  { type: 20, paths: { ...usual, rerank } },
  { type: 22, paths: chatAlone },
  {
    type: 24,
    shown: ['x-goog-api-key', key],
    form: gemini,
    paths: { chat: '/v1beta/models/MODEL:generateContent' },
    streams: '/v1beta/models/MODEL:streamGenerateContent?alt=sse',
  },
  { type: 25, paths: chatAlone },
  {
    type: 26,
    paths: {
      chat: '/api/paas/v4/chat/completions',
      embeddings: '/api/paas/v4/embeddings',
      rerank: '/api/paas/v4/rerank',
    },
  },
  { type: 27, paths: { chat: '/chat/completions' } },
  { type: 31, paths: withoutEmbeddings },
  { type: 38, paths: { embeddings: usual.embeddings, rerank } },
  {
    type: 39,
    other: 'acct0123',
    paths: { chat: `${cloudflare}/chat/completions`, embeddings: `${cloudflare}/embeddings` },
  },
  { type: 35, paths: chatAlone },
  { type: 34, paths: { rerank: '/v2/rerank' } },
  { type: 40, paths: { ...usual, rerank } },
  {
    ...{ type: 42, form: completesAsChat },
    paths: { chat: usual.chat, completions: '/v1/fim/completions', embeddings: usual.embeddings, moderation },
  },
  { type: 43, paths: { chat: usual.chat, completions: '/beta/completions' } },
  { type: 44, paths: { embeddings: '/embeddings' } },
  { type: 45, paths: { chat: '/api/v3/chat/completions', embeddings: '/api/v3/embeddings' } },
  { type: 46, paths: { chat: '/v2/chat/completions', embeddings: '/v2/embeddings', rerank: '/v2/rerank' } },
  { type: 48, paths: withoutEmbeddings },
];

export const documentedAddresses: readonly DocumentedAddress[] = rows.map((row) => ({ key, form: openAi, ...row }));
