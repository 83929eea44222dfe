import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { root, webDirectory, webStamp } from './build.mjs';
import { generateDocuments } from './codegen.mjs';

/*
 * npm run build:web: the console as files in web/dist. They are made beside it and put in its place whole, so that a
 * gateway that is serving never has half a console.
 */

const compressible = /\.(js|css|html|svg)$/;
/** Below this, a packet is a packet. */
const minCompressedBytes = 1024;

const brotli = (content) =>
  promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });

/** Once here is cheaper than with every request, and the best there is. */
async function compressAll(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && compressible.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(
    files.map(async (file) => {
      const content = readFileSync(file);
      if (content.length < minCompressedBytes) return;
      const [br, gz] = await Promise.all([brotli(content), promisify(gzip)(content, { level: 9 })]);
      writeFileSync(`${file}.br`, br);
      writeFileSync(`${file}.gz`, gz);
    }),
  );
}

// Vite would take over another one, and with it React's far larger build for development.
process.env.NODE_ENV = 'production';

const started = new Date();
const staging = join(root, 'node_modules/.cache', `tallygate-web-${process.pid}`);
const target = join(webDirectory, 'dist');
try {
  await generateDocuments();
  await build({
    configFile: join(webDirectory, 'vite.config.ts'),
    logLevel: process.argv.includes('--quiet') ? 'warn' : 'info',
    build: { outDir: staging },
  });
  await compressAll(staging);
  rmSync(target, { recursive: true, force: true });
  renameSync(staging, target);
  // Dated at the start: what was saved meanwhile is newer.
  writeFileSync(webStamp, '');
  utimesSync(webStamp, started, started);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
