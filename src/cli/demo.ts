import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDemo } from '../demo/start-demo.js';
import { type CommandContext, optionsIn } from './command.js';
import { stopInTime } from './stop-in-time.js';
import { untilStopped } from './until-stopped.js';

/** Made at the first run of a demo and kept beside its data: there is no built-in password, here neither. */
async function rootPassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'root-password');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    const password = randomBytes(9).toString('base64url');
    await writeFile(file, `${password}\n`, { mode: 0o600 });
    return password;
  }
}

/** The gateway with a simulated provider, sample users and channels, a past, and traffic, on data of its own. */
export async function demo({ config, log, args }: CommandContext): Promise<void> {
  optionsIn(args, {});
  const dataDir = join(config.database.dataDir, 'demo');
  const demoConfig = {
    ...config,
    database: { ...config.database, url: null, dataDir },
    vault: { secretKey: null, dataDir },
  };
  const stopped = untilStopped(log);
  const { gateway, provider, taskServer, password, begin } = await startDemo(demoConfig, log, () =>
    rootPassword(dataDir),
  );
  const end = begin();
  log.info(
    { url: gateway.url, username: 'root', password },
    `Tallygate's demo is ready at ${gateway.url} (user root, password ${password})`,
  );
  await Promise.race([stopped, gateway.failed]);
  await end();
  await stopInTime(gateway, demoConfig, log);
  await Promise.all([provider.stop(), taskServer.stop()]);
}
