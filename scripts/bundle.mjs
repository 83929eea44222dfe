import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/*
 * src as a few files, with the packages it needs in them: a start that finds and reads two thousand files one by one
 * spends most of its time on that.
 */

/** What Node is started with: the program, and the threads and processes that it starts by their file. */
export const entries = [
  'main.ts',
  'projecting/thread.ts',
  'relay-process/workers/relay-worker.ts',
  'adapters/event-log/journal/flushing-thread.ts',
];

/** They find files of their own at run time, or are optional and not there. */
const leftAlone = ['@node-rs/argon2', 'pg-native'];

/**
 * Of what a package imports only when it needs it, its form as modules: of the older form such an import would bring the
 * whole as one value, and none of its names.
 */
const asModules = { 'class-validator': './node_modules/class-validator/esm5/index.js' };

const forPackagesThatRequire = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/**
 * What a file of a package begins with here. Node reads an HTTP client of its own as soon as one of its classes is named,
 * which takes a start 45 ms: pg makes a `Response` to see whether it runs at Cloudflare, where there is no `navigator`, and
 * the cookies of undici, which nobody uses, take Node's `Headers` as well as their own.
 */
const beginnings = {
  'pg/lib/stream.js': "const navigator = { userAgent: 'Node.js' };",
  'undici/lib/web/cookies/index.js': 'const globalThis = {};',
};
const beginningOf = (path) =>
  Object.entries(beginnings).find(([file]) => path.endsWith(`/node_modules/${file}`))?.[1] ?? '';

/** A map of one place: traces name our sources, and those of packages would make the maps five times as long. */
const noMap = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64');

const packages = {
  name: 'packages',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${beginningOf(path)}${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${noMap}`,
      loader: 'js',
    }));
  },
};

/** All files lie directly in `outdir`, so that what is found beside the folder of the sources is found from there. */
export async function bundle(root, outdir) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => ({ in: join('src', entry), out: basename(entry, '.ts') })),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: leftAlone,
    alias: asModules,
    banner: { js: forPackagesThatRequire },
    legalComments: 'none',
    // A start reads a third less; the names stay, for traces and profiles.
    minifyWhitespace: true,
    sourcemap: true,
    sourcesContent: false,
    plugins: [packages],
    logLevel: 'silent',
    write: false,
  });
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
}
