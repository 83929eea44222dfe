import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/* A WebAuthn authenticator with one browser, for tests that must say themselves what is wrong with an answer. */

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();

/** CBOR of what an authenticator says: small maps, texts, bytes and integers. */
function cbor(value: unknown): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, member]) => [cbor(key), cbor(member)])]);
  throw new Error('nothing an authenticator says');
}

export interface Behaviour {
  /** What the page claims to be. */
  readonly origin?: string;
  /** Whether the user has been verified. */
  readonly verified?: boolean;
  /** Whom the credential is said to be made for. */
  readonly relyingParty?: string;
}

export class Authenticator {
  readonly credential: string;
  counter = 0;
  private readonly key: KeyObject;
  private readonly point: { x: string; y: string };

  constructor(
    readonly origin: string,
    /** Shared by a copy of it. */
    original: Authenticator | null = null,
    /** Whether it counts its uses. */
    readonly counts = true,
  ) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
    this.key = original?.key ?? pair.privateKey;
    this.point = original?.point ?? { x, y };
    this.credential = original?.credential ?? randomBytes(16).toString('base64url');
    this.counter = original?.counter ?? 0;
  }

  private authenticatorData(behaviour: Behaviour, attested: Buffer): Buffer {
    const { verified = true, relyingParty = new URL(this.origin).hostname } = behaviour;
    const count = Buffer.alloc(4);
    if (this.counts) this.counter += 1;
    count.writeUInt32BE(this.counter);
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0);
    return Buffer.concat([sha256(relyingParty), Buffer.from([flags]), count, attested]);
  }

  private answer(
    type: string,
    challenge: string,
    { origin = this.origin }: Behaviour,
    inner: (client: Buffer) => object,
  ) {
    const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
    return JSON.stringify({
      id: this.credential,
      rawId: this.credential,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: client.toString('base64url'), ...inner(client) },
    });
  }

  /** `question`: what `navigator.credentials.create` gets. */
  create(question: string, behaviour: Behaviour = {}): string {
    const { challenge } = JSON.parse(question) as { challenge: string };
    const id = bytes(this.credential);
    const key = cbor(
      new Map<number, number | Buffer>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes(this.point.x)],
        [-3, bytes(this.point.y)],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([id.length >> 8, id.length & 0xff]), id, key]);
    const authData = this.authenticatorData(behaviour, attested);
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.answer('webauthn.create', challenge, behaviour, () => ({
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    }));
  }

  /** `question`: what `navigator.credentials.get` gets. */
  get(question: string, behaviour: Behaviour = {}): string {
    const { challenge } = JSON.parse(question) as { challenge: string };
    const authenticatorData = this.authenticatorData(behaviour, Buffer.alloc(0));
    return this.answer('webauthn.get', challenge, behaviour, (client) => ({
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', Buffer.concat([authenticatorData, sha256(client)]), this.key).toString('base64url'),
    }));
  }
}
