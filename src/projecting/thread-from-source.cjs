/*
 * The thread of the projectors where it is run from the sources, as by tests and by `npm run dev`. CommonJS, because
 * what reads TypeScript then needs no thread of its own beside this one, and half the time.
 */
require('tsx/cjs/api').register();
require('./thread.ts');
