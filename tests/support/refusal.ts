import { expect } from 'vitest';
import type { Failure, FailureCode } from '../../src/domain/kernel/failure.js';

/** Matches a Failure by its code, and by the details named. */
export const refusal = (code: FailureCode, details: Failure['details'] = {}): Failure =>
  expect.objectContaining({ code, details: expect.objectContaining(details) });
