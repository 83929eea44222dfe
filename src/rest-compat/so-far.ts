import type { Application } from '../application/application.js';
import { type Envelope, success } from './wire/envelope.js';

/**
 * Answers of lists and figures that are made from the log. While what they are read from is being built, they say how
 * much of it there is: beyond the contract, and only where the answer may not be what a client takes it for.
 */
export const answersSoFar =
  ({ readModels }: Pick<Application, 'readModels'>) =>
  (data: unknown): Envelope => {
    const percent = readModels.rebuiltPercent();
    return percent === null ? success(data) : Object.assign(success(data), { rebuilt_percent: percent });
  };
