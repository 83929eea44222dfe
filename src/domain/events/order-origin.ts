import type { Sealed, UserId } from '../kernel/ids.js';

/* Who has given the order that an event follows from, and from where. Kept of orders of administrators alone. */

/** Where orders come in. */
export type OrderFace = 'graphql' | 'legacy-api';

/** By what whoever orders was known: a browser's session, or an access token, as scripts have it. */
export type OrderCredential = 'session' | 'access-token';

/** From where somebody asks. Left out of an actor: no face was asked. */
export interface AskedFrom {
  readonly face: OrderFace;
  readonly credential: OrderCredential;
  /** The client's. */
  readonly address: string;
}

/** The same beside an event. The address is sealed with the key of who ordered. */
export interface OrderOrigin {
  readonly by: UserId;
  /** null: it was not a face's order, or nobody knows. */
  readonly face: OrderFace | null;
  readonly credential: OrderCredential | null;
  readonly address: Sealed | null;
}
