const path = '/.well-known/openid-configuration';

/** The address of a provider's discovery document, of that address or of the issuer's, with or without `/` at its end. */
export function wellKnownAddress(typed: string): string {
  const address = typed.trim();
  return address === '' || address.includes('/.well-known/') ? address : `${address.replace(/\/+$/, '')}${path}`;
}
