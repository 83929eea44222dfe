import type { PaidMode } from '../../src/domain/provider.js';
import { chat } from '../../src/relay/callers/openai/endpoints/chat.js';
import { completions } from '../../src/relay/callers/openai/endpoints/completions.js';
import { embeddings } from '../../src/relay/callers/openai/endpoints/embeddings.js';
import { speech } from '../../src/relay/callers/openai/endpoints/speech.js';
import { transcriptions, translations } from '../../src/relay/callers/openai/endpoints/transcriptions.js';
import type { Endpoint } from '../../src/relay/endpoint.js';

/** By the mode each of them asks for. */
export const endpoints = {
  ...{ chat, completions, embeddings, speech },
  ...{ transcription: transcriptions, translation: translations },
} satisfies Record<PaidMode, Endpoint>;
