/* The flushing thread where it is run from the sources; see projecting/thread-from-source.cjs. */
require('tsx/cjs/api').register();
require('./flushing-thread.ts');
