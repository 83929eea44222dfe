import { count, type Peer, peers } from './arguments.js';
import type { RigOptions } from './rig.js';

/* Gateways of others in the same rounds. They must relay our model names to the simulated provider's address. */

export const peerOptions = {
  peer: peers(
    'name=http://host:port or …,key: an OpenAI-compatible gateway that takes part; may be given several times',
  ),
  'provider-port': count(4010, 'where a peer finds the simulated provider, http://127.0.0.1:PORT/v1', 65_535),
};

export const peersOf = (given: {
  readonly peer: readonly Peer[];
  readonly 'provider-port': number;
}): Pick<RigOptions, 'peers' | 'providerPort'> => ({
  peers: given.peer,
  // Without anybody who has to know it, any port will do.
  providerPort: given.peer.length > 0 ? given['provider-port'] : 0,
});
