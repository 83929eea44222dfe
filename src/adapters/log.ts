import type { BaseLogger } from 'pino';

/** The part of the process log the adapters write to. Never given a secret, a prompt or a key. */
export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
