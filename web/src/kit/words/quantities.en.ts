import type { Translation } from './i18n.js';
import type { quantitiesZh } from './quantities.zh.js';

export const quantitiesEn: Translation<typeof quantitiesZh> = {
  input: 'Input',
  cachedInput: 'Cache read',
  cacheWrite: 'Cache written',
  cacheWriteHour: 'Cache written, 1 h or more',
  imageInput: 'Image input',
  audioInput: 'Audio input',
  output: 'Output',
  reasoning: 'Reasoning',
  imageOutput: 'Image output',
  audioOutput: 'Audio output',
  videoInput: 'Video input',
  videoOutput: 'Video output',
  images: 'Images',
  seconds: 'Seconds',
  characters: 'Characters',
  call: 'The call',
  calls: 'Calls of {{tool}}',
  'calls:web_search': 'Web searches',
  'calls:google_search': 'Google searches',
  'calls:google_maps': 'Google Maps',
  'calls:code_execution': 'Code execution containers',
  'calls:code_interpreter': 'Code interpreter containers',
};
