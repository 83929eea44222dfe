import { chat } from '../../src/relay/callers/openai/endpoints/chat.js';
import { completions } from '../../src/relay/callers/openai/endpoints/completions.js';
import { embeddings } from '../../src/relay/callers/openai/endpoints/embeddings.js';
import type { Endpoint } from '../../src/relay/endpoint.js';

/** By the mode each of them asks for. */
export const endpoints = { chat, completions, embeddings } satisfies Record<string, Endpoint>;
