import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { Failure } from '../../domain/kernel/failure.js';
import type { SecretId } from '../../domain/kernel/ids.js';
import type { SealKey, SealKeyStore } from '../ports/seal-ports.js';
import type { Clock, Vault } from '../ports/storage-ports.js';
import { endorsementStatement, sealKeyId } from './seal.js';

/* The keys that seals are signed with: made where there is none, and replaced by order, the old one naming the new one. */

export interface SealKeyPorts {
  readonly keys: SealKeyStore;
  readonly vault: Pick<Vault, 'put' | 'get' | 'drop'>;
  readonly clock: Clock;
}

/** The newest key, ready to sign. */
interface SealSigner {
  readonly keyId: string;
  sign(statement: string): string;
}

/** Reads the newest key, and makes the first one. Throws Failure `store-unavailable` where the vault has lost it. */
export async function sealSigner(ports: SealKeyPorts): Promise<SealSigner> {
  const newest = (await ports.keys.all()).at(-1) ?? (await addKey(ports, null));
  return signerOf(ports, newest);
}

/** Another key takes the place of the newest, which signs this and nothing more. Throws Failure `lost-race`. */
export async function rotateSealKey(ports: SealKeyPorts): Promise<SealKey> {
  const newest = (await ports.keys.all()).at(-1);
  const added = await addKey(ports, newest ?? null);
  // What it has signed stays true; nobody shall sign anything else with it.
  if (newest !== undefined && newest.secret !== null) await ports.vault.drop([newest.secret]);
  return added;
}

/** Throws Failure `store-unavailable` where the vault has not the private key. */
export async function signerOf(
  { vault }: { readonly vault: Pick<Vault, 'get'> },
  { id, secret }: SealKey,
): Promise<SealSigner> {
  const text = secret === null ? null : await vault.get(secret);
  if (text === null)
    throw new Failure('store-unavailable', { reason: `the vault does not have the private key of seals ${id}` });
  const key = createPrivateKey(text);
  return { keyId: id, sign: (statement) => sign(null, Buffer.from(statement), key).toString('base64url') };
}

/** Of two who add one at once, the second gets the other's if it is the first of all, and else `lost-race`. */
async function addKey(ports: SealKeyPorts, before: SealKey | null): Promise<SealKey> {
  const { keys, vault, clock } = ports;
  const pair = generateKeyPairSync('ed25519');
  const publicKey = pair.publicKey.export({ format: 'jwk' }).x ?? '';
  const unendorsed = {
    number: before === null ? 0 : before.number + 1,
    id: sealKeyId(Buffer.from(publicKey, 'base64url')),
    publicKey,
    since: clock.now(),
    endorsement: null,
  };
  const endorsement =
    before === null ? null : (await signerOf(ports, before)).sign(endorsementStatement(unendorsed, before));
  const secret: SecretId = await vault.put(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string);
  const key: SealKey = { ...unendorsed, endorsement, secret };
  if (await keys.add(key)) return key;
  await vault.drop([secret]);
  const other = (await keys.all()).at(-1);
  if (before !== null || other === undefined) throw new Failure('lost-race');
  return other;
}
