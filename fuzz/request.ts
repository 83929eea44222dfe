/* One request of the fuzzer, as data: the same seed and number make the same request. */

/** Whom a request pretends to be. */
export type Role = 'nobody' | 'ordinary' | 'admin' | 'root';

export const faces = ['api', 'graphql', 'relay', 'dialect', 'playground', 'export', 'pages', 'socket'] as const;

export interface FuzzRequest {
  readonly face: (typeof faces)[number];
  readonly method: string;
  /** With query; already encoded, or deliberately not. */
  readonly path: string;
  readonly as: Role;
  readonly headers: Readonly<Record<string, string>>;
  /** null: none. For a socket: the frames sent, one per line. */
  readonly body: Buffer | null;
}
