import type { FastifyInstance } from 'fastify';
import type { Application } from './application/application.js';
import { requestId } from './application/request-id.js';
import type { Config } from './config.js';
import type { Instant } from './domain/instant.js';
import { providerOf } from './relay/providers/registry.js';
import type { Relay } from './relay/relay.js';
import { relayRoutes } from './relay/routes.js';

/* The faces on one port: relay, GraphQL, legacy REST, and a page that says where they are. */

export interface FacesOptions {
  readonly application: Application;
  readonly relay: Relay;
  readonly config: Config;
  readonly startedAt: Instant;
  readonly version: string;
  /** Asks the database whether it is there. */
  readonly ping: () => Promise<unknown>;
}

export async function serveFaces(app: FastifyInstance, options: FacesOptions): Promise<void> {
  const { application, relay, config } = options;
  const newRequestId = () => requestId(application.clock.now());

  await app.register(relayRoutes, {
    relay,
    directory: application.directory,
    newRequestId,
    providerName: (type: number) => providerOf(type)?.name ?? null,
    maxBodyBytes: config.server.maxBodyBytes,
  });
}
