import { modelList } from './model-list.js';

/** Models of OpenAI that others serve too. */
export const openAiModels = modelList(`
  gpt-6-astra gpt-6-sol gpt-6-luna
  gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.5 gpt-5.5-2026-04-23 gpt-5.4 gpt-5.4-2026-03-05 gpt-5.4-pro
  gpt-5.4-mini gpt-5.4-mini-2026-03-17 gpt-5.4-nano gpt-5.4-nano-2026-03-17 gpt-5.3-codex gpt-5.3-chat-latest gpt-5.2
  gpt-5.2-2025-12-11 gpt-5.2-pro gpt-5.2-codex gpt-5.2-chat-latest gpt-5.1 gpt-5.1-2025-11-13 gpt-5.1-chat-latest
  gpt-5.1-codex gpt-5.1-codex-mini gpt-5.1-codex-max gpt-5 gpt-5-2025-08-07 gpt-5-pro gpt-5-codex gpt-5-mini
  gpt-5-mini-2025-08-07 gpt-5-nano gpt-5-nano-2025-08-07 gpt-5-chat-latest gpt-4.1 gpt-4.1-2025-04-14 gpt-4.1-mini
  gpt-4.1-mini-2025-04-14 gpt-4.1-nano gpt-4.1-nano-2025-04-14 o3 o3-2025-04-16 o3-pro o3-deep-research o4-mini
  o4-mini-2025-04-16 gpt-4o-search-preview gpt-4o-mini-search-preview gpt-4o-audio-preview-2024-12-17
  gpt-4o-audio-preview-2025-06-03 gpt-4o-mini-audio-preview gpt-image-2 gpt-image-1.5 gpt-image-1 gpt-image-1-mini
  chatgpt-image-latest dall-e-2 gpt-4o-mini-tts gpt-4o-mini-tts-2025-12-15 gpt-4o-transcribe gpt-4o-transcribe-diarize
  gpt-4o-mini-transcribe gpt-4o-mini-transcribe-2025-12-15 gpt-realtime-2.1 gpt-realtime-2 gpt-realtime-1.5
  gpt-realtime-mini gpt-3.5-turbo gpt-3.5-turbo-0613 gpt-3.5-turbo-1106 gpt-3.5-turbo-0125 gpt-3.5-turbo-16k
  gpt-3.5-turbo-16k-0613 gpt-3.5-turbo-instruct gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-0125-preview gpt-4-32k
  gpt-4-32k-0613 gpt-4-turbo-preview gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-vision-preview chatgpt-4o-latest gpt-4o
  gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18 gpt-4.5-preview
  gpt-4.5-preview-2025-02-27 o1-preview o1-preview-2024-09-12 o1-mini o1-mini-2024-09-12 o3-mini o3-mini-2025-01-31
  o3-mini-high o3-mini-2025-01-31-high o3-mini-low o3-mini-2025-01-31-low o3-mini-medium o3-mini-2025-01-31-medium o1
  o1-2024-12-17 gpt-4o-audio-preview gpt-4o-audio-preview-2024-10-01 gpt-4o-realtime-preview
  gpt-4o-realtime-preview-2024-10-01 gpt-4o-realtime-preview-2024-12-17 gpt-4o-mini-realtime-preview
  gpt-4o-mini-realtime-preview-2024-12-17 text-embedding-ada-002 text-embedding-3-small text-embedding-3-large
  text-curie-001 text-babbage-001 text-ada-001 text-davinci-edit-001 davinci-002 babbage-002 dall-e-3 whisper-1 tts-1
  tts-1-1106 tts-1-hd tts-1-hd-1106
`);

export const openAiModerationModels = modelList('omni-moderation-latest text-moderation-latest text-moderation-stable');
