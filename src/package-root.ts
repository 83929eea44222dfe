/** The folder of `package.json`, with a slash at its end: one above the sources, and above the bundle made of them. */
export const packageRoot = new URL('../', import.meta.url);
