import { BaseSequencer, type TestSpecification } from 'vitest/node';

/*
 * Two files run at once, and a long one that begins last runs alone. On a fresh checkout nothing is known of how long
 * files take but their size, which says little of one that gathers journeys from others.
 */

const long =
  /\/tests\/(browser\/[^/]+|journeys\/security\/fuzz|adapters\/embedded-postgres\/embedded-postgres)\.test\.ts$/;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => long.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
