import { asScript, buildGateway } from './build.mjs';

/* npm run build: the gateway as files in dist. */

await asScript(buildGateway);
