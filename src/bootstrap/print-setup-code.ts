import type { Logger } from 'pino';

/* The set-up code, to whoever reads the log: as a link that the console's page takes it from. */

/** Behind `#` it is sent to no server, stands in no log of a proxy and in no Referer. */
const setupLink = (url: string, code: string): string => `${url}/setup#code=${code}`;

/** `url`: of the gateway, as this machine reaches it. */
export function printSetupCode(log: Pick<Logger, 'warn' | 'isLevelEnabled'>, url: string, code: string): void {
  const link = setupLink(url, code);
  const text = `This gateway has not been set up. Open this to do it: ${link} (elsewhere than on this machine: the page /setup, with the code ${code})`;
  if (log.isLevelEnabled('warn')) log.warn({ code, link }, text);
  // Without it nobody could ever set the gateway up.
  else process.stderr.write(`${text}\n`);
}
