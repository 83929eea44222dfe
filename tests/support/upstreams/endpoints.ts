import type { PaidMode } from '../../../src/domain/channel/provider.js';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { completions } from '../../../src/relay/dialects/openai/endpoints/completions.js';
import { embeddings } from '../../../src/relay/dialects/openai/endpoints/embeddings.js';
import { imageEdits, imageGenerations } from '../../../src/relay/dialects/openai/endpoints/images.js';
import { moderations } from '../../../src/relay/dialects/openai/endpoints/moderations.js';
import { realtime } from '../../../src/relay/dialects/openai/endpoints/realtime.js';
import { rerank } from '../../../src/relay/dialects/openai/endpoints/rerank.js';
import { responses } from '../../../src/relay/dialects/openai/endpoints/responses.js';
import { speech } from '../../../src/relay/dialects/openai/endpoints/speech.js';
import { transcriptions, translations } from '../../../src/relay/dialects/openai/endpoints/transcriptions.js';
import { sunoEndpoint } from '../../../src/relay/dialects/suno/endpoints/submit.js';

/** By the mode each of them asks for. */
export const endpoints = {
  ...{ chat, completions, responses, embeddings, speech },
  ...{ rerank, moderation: moderations, realtime },
  ...{ transcription: transcriptions, translation: translations },
  'image-generation': imageGenerations,
  'image-edit': imageEdits,
  task: sunoEndpoint('music'),
} satisfies Record<PaidMode, Endpoint>;
