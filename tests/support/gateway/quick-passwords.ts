import { hash } from '@node-rs/argon2';
import { argon2Passwords } from '../../../src/adapters/sign-in/passwords.js';
import type { Passwords } from '../../../src/application/ports/storage-ports.js';

const lowest = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/**
 * As the gateway's own, and read by it, at the lowest cost that there is: the suite sets thousands of passwords, which
 * nobody is going to guess.
 */
export const quickPasswords: Passwords = { ...argon2Passwords, hash: (password) => hash(password, lowest) };
