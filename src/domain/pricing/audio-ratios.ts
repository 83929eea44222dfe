/* What sound costs relative to text, by families of names; other models' own prices come with their price lists. */

interface AudioRatios {
  /** Of a token of sound that comes in, relative to an input token. */
  readonly input: string;
  /** Of one that goes out, relative to an input token as well. */
  readonly output: string;
}

/** Sound that goes out costs twice what comes in. */
const rule = (input: string, output: string): AudioRatios => ({ input, output });

const newerRealtime = rule('8', '16');
const smallRealtime = rule('16.666666666667', '33.333333333334');
const realtime = rule('20', '40');
const newerAudio = rule('16', '32');
const smallAudio = rule('66.666666666667', '133.333333333334');
const audio = rule('40', '80');

/** null: sound costs what text does. */
export function audioRule(model: string): AudioRatios | null {
  if (!model.includes('gpt-')) return null;
  const small = model.includes('mini');
  if (model.includes('-realtime')) {
    if (model.endsWith('gpt-4o-realtime-preview-2024-12-17')) return newerRealtime;
    return small ? smallRealtime : realtime;
  }
  if (!model.includes('-audio')) return null;
  if (model.endsWith('gpt-4o-audio-preview-2024-12-17')) return newerAudio;
  return small ? smallAudio : audio;
}
