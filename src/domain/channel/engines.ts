/*
 * Servers of models that an operator runs, as far as setting up a channel needs them: which type speaks with each, where
 * it usually listens, and what its channels are set to.
 */

export type EngineId = 'llama-cpp' | 'vllm' | 'sglang' | 'ollama' | 'lm-studio' | 'xinference' | 'infinity' | 'tei';

export interface Engine {
  readonly id: EngineId;
  readonly name: string;
  /** Of the channel. */
  readonly type: number;
  readonly usualBaseUrl: string;
  /** The channel's settings, JSON; empty: none. */
  readonly setting: string;
}

/** Their Responses are younger than what agents ask of one, or there are none. */
const chatOnly = '{"chat_only": true}';

const openAiForm = 1;

export const engines: readonly Engine[] = [
  { id: 'llama-cpp', name: 'llama.cpp', type: openAiForm, usualBaseUrl: 'http://localhost:8080', setting: chatOnly },
  { id: 'vllm', name: 'vLLM', type: openAiForm, usualBaseUrl: 'http://localhost:8000', setting: chatOnly },
  { id: 'sglang', name: 'SGLang', type: openAiForm, usualBaseUrl: 'http://localhost:30000', setting: chatOnly },
  { id: 'ollama', name: 'Ollama', type: 4, usualBaseUrl: 'http://localhost:11434', setting: '' },
  { id: 'lm-studio', name: 'LM Studio', type: openAiForm, usualBaseUrl: 'http://localhost:1234', setting: chatOnly },
  { id: 'xinference', name: 'Xinference', type: 47, usualBaseUrl: 'http://localhost:9997', setting: '' },
  // It has the paths of that type: vectors, and rankings.
  { id: 'infinity', name: 'Infinity', type: 47, usualBaseUrl: 'http://localhost:7997', setting: '' },
  {
    id: 'tei',
    name: 'Text Embeddings Inference',
    type: openAiForm,
    usualBaseUrl: 'http://localhost:8080',
    setting: '',
  },
];
