import { imageModes, other, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { gemini } from '../protocols/gemini/gemini.js';
import { pagedGeminiModels } from '../protocols/gemini/models.js';
import { geminiVideos } from '../protocols/video/gemini-videos.js';

const defaultBaseUrl = 'https://generativelanguage.googleapis.com';

export const googleGemini: Provider = {
  ...usual,
  type: 24,
  name: 'Google Gemini',
  defaultBaseUrl,
  defaultModels: modelList(`
    gemini-3.8-flash gemini-3.1-flash-lite
    gemini-3.7-flash gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview
    gemini-3.1-flash-lite-preview gemini-3-pro-preview gemini-3-flash-preview gemini-2.5-pro gemini-2.5-flash
    gemini-2.5-flash-lite gemini-2.0-flash-001 gemini-2.0-flash-lite gemini-2.0-flash-lite-001 gemini-pro-latest
    gemini-flash-latest gemini-flash-lite-latest gemini-2.5-flash-image gemini-3-pro-image-preview
    gemini-3.1-flash-image-preview gemini-2.5-flash-preview-tts gemini-2.5-pro-preview-tts
    gemini-3.1-flash-tts-preview gemini-embedding-001 gemini-embedding-2 gemma-3-27b-it gemma-3-12b-it gemini-1.5-pro
    gemini-1.5-flash gemini-1.5-flash-8b gemini-2.0-flash gemini-1.5-pro-latest gemini-1.5-flash-latest
    gemini-2.0-flash-lite-preview gemini-exp-1206 gemini-2.0-flash-exp gemini-2.0-pro-exp
    gemini-2.0-flash-thinking-exp gemini-2.5-pro-exp-03-25 gemini-2.5-pro-preview-03-25 imagen-3.0-generate-002
    gemini-embedding-exp-03-07 text-embedding-004 embedding-001
  `),
  colour: 'orange',
  keyHint: 'API key',
  other: other('API version, e.g. v1beta'),
  forbiddenMeansDead: true,
  modes: ['chat', 'embeddings', 'counting', ...imageModes, 'task'],
  models: pagedGeminiModels,
  protocol: gemini,
  ...geminiVideos({ defaultBaseUrl }),
};
