import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/* AES-256-GCM. A sealed value is IV (12 bytes), authentication tag (16 bytes), ciphertext, in this order. */

export const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** `owner` is what the value belongs to: it opens for the same owner only, so sealed values cannot be swapped. */
export function sealBytes(key: Buffer, owner: string, plain: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws when the value was changed, belongs to another owner or was sealed with another key. */
export function openBytes(key: Buffer, owner: string, sealed: Buffer): Buffer {
  const iv = sealed.subarray(0, ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
}
