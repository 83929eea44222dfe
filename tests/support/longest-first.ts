import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/*
 * Several files run at once, and a long one that begins last runs alone. On a fresh checkout nothing is known of how long
 * files take but their size, which says little of one that gathers journeys from others, or waits.
 */

const inBrowser = /\/tests\/browser\//;
const otherLong = /\/tests\/(journeys|adapters\/embedded-postgres|graphql|rest-compat)\//;
const ofConsole = /\/tests\/web\//;

/** A process that has run files in Node runs none with a document, and begins anew wherever the two take turns. */
const hasDocument = (path: string): boolean =>
  ofConsole.test(path) && readFileSync(path, 'utf8').startsWith('// @vitest-environment');

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const taken = new Set<TestSpecification>();
    const take = (belongs: (path: string) => boolean): TestSpecification[] => {
      const found = sorted.filter((file) => !taken.has(file) && belongs(file.moduleId));
      for (const file of found) taken.add(file);
      return found;
    };
    const browsers = take((path) => inBrowser.test(path));
    const waiting = take((path) => otherLong.test(path));
    const documents = take(hasDocument);
    // In turns: not every process has a browser to feed at the same time.
    const long = waiting.flatMap((file, at) => [...browsers.slice(at, at + 1), file]);
    return [...long, ...browsers.slice(waiting.length), ...take(() => true), ...documents];
  }
}
