import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const build = (await import(join(root, 'scripts/build.mjs'))) as { readonly isBuilt: () => boolean };

/** Whether `dist` has been built of the sources as they are, as `npm test` does first. */
export const isBuilt = build.isBuilt();
