/* What a model is asked for where its caller does not say: stated upstream too, so that what is charged is what is made. */

interface VideoDefaults {
  readonly seconds: number;
  readonly size: string;
}

/** By the last part of the name; the first that fits. As their makers document them. */
const known: readonly (readonly [RegExp, VideoDefaults])[] = [[/^veo-/, { seconds: 8, size: '1280x720' }]];

/** As OpenAI documents them. */
const usual: VideoDefaults = { seconds: 4, size: '720x1280' };

export const videoDefaults = (model: string): VideoDefaults => {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return known.find(([pattern]) => pattern.test(name))?.[1] ?? usual;
};
