import type { Logger } from 'pino';
import type { Config } from '../config.js';

export interface CommandContext {
  readonly config: Config;
  readonly log: Logger;
  readonly args: readonly string[];
}
