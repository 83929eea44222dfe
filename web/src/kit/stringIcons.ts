/*
 * Stands in for Blueprint's loader of icons by name. The console uses icons as components only, so that each page brings
 * along the few it shows; the loader would bring the names of all, and fetch the paths of all with the first one used.
 */

/** An icon given by name stays empty. A test finds those. */
export const Icons = {
  getPaths: (): undefined => undefined,
  load: async (): Promise<void> => undefined,
} as const;
