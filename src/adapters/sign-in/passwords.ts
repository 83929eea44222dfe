import { hash, verify } from '@node-rs/argon2';
import type { Passwords } from '../../application/ports/storage-ports.js';

/** Argon2id (the default algorithm of the library) at the lowest cost OWASP accepts: about 70 ms and 19 MiB each. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes are in PHC text form, which carries its own salt and cost. */
export const argon2Passwords: Passwords = {
  hash: (password) => hash(password, cost),
  verify: (stored, password) => verify(stored, password),
};
