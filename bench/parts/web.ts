import type { CDPSession, Page } from 'playwright-core';
import { visit } from '../../tests/browser/tables.js';
import { buildConsole, launchBrowser, openConsole, signIn } from '../../tests/support/gateway/browser.js';
import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { rootAccount } from '../customer.js';
import { unlimited } from '../data-set.js';
import { type Percentiles, percentilesOf, rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { tallygate, withRig } from '../rig.js';
import { decimal } from '../table.js';

/* The usage log in a browser while calls go on: whether it keeps its frames, and whether its memory grows. */

const model = 'gpt-4o-mini';
/** Two frames at 60 a second have been missed. */
const longFrameMs = 50;

/** So long is looked before the heap is measured, which takes time of its own and is no part of the frames. */
const sectionSeconds = 60;

interface Looked {
  readonly framesPerSecond: number;
  readonly frameMs: Percentiles;
  readonly longFrames: number;
}

interface Kept {
  readonly heapBytes: number;
  readonly domNodes: number;
}

/** Bytes that the page's scripts keep, after everything else has been collected. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

const nodesIn = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'Nodes')?.value ?? Number.NaN;
};

async function keptBy(session: CDPSession): Promise<Kept> {
  return { heapBytes: await heapOf(session), domNodes: await nodesIn(session) };
}

/** Milliseconds between the frames that are drawn while `work` goes on. */
async function gapsDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(`
    window.frameTimes = [];
    (function frame(at) {
      window.frameTimes.push(at);
      window.frameRequest = requestAnimationFrame(frame);
    })(performance.now());
  `);
  await work();
  const times = await page.evaluate<number[]>(`{
    const { frameTimes } = window;
    cancelAnimationFrame(window.frameRequest);
    window.frameTimes = [];
    frameTimes;
  }`);
  return times.slice(1).map((at, number) => at - (times[number] ?? at));
}

const lookedAt = (gaps: readonly number[]): Looked => ({
  framesPerSecond: rounded((gaps.length * 1000) / gaps.reduce((sum, gap) => sum + gap, 0), 1),
  frameMs: percentilesOf(gaps),
  longFrames: gaps.filter((gap) => gap > longFrameMs).length,
});

const framesLine = ({ framesPerSecond, frameMs, longFrames }: Looked): string =>
  `frames: ${framesPerSecond} a second, p99 ${decimal(frameMs.p99)} ms apart, longest ${decimal(frameMs.max)} ms, ${longFrames} over ${longFrameMs} ms`;

const megabytes = (bytes: number): string => decimal(bytes / 1e6, 1);

/** A dozen of them at most, evenly, the first and the last among them. */
const someOf = <Value>(values: readonly Value[]): Value[] => {
  const step = Math.max(1, Math.ceil((values.length - 1) / 11));
  return values.filter((_, index) => index % step === 0 || index === values.length - 1);
};

const keptLine = (kept: readonly Kept[]): string =>
  `heap: ${someOf(kept.map(({ heapBytes }) => megabytes(heapBytes))).join(', ')} MB; DOM nodes: ${someOf(kept.map(({ domNodes }) => domNodes)).join(', ')}`;

const skipped = (reason: string): Outcome => ({ figures: { skipped: reason }, lines: [reason], differences: [] });

export const web = part({
  name: 'web',
  says: 'the usage log in headless Chromium while lines arrive live: frames and heap',
  options: {
    'per-second': count(50, 'calls per second, each a line of the log', 1000),
    seconds: seconds(30, 'for how long lines arrive'),
  },
  async run({ 'per-second': perSecond, seconds }, surroundings) {
    const browser = await launchBrowser();
    if (browser === null)
      return skipped('Skipped: there is no browser. Install Chromium, or let CHROMIUM_PATH name one.');
    const { progress } = surroundings;
    try {
      buildConsole();
      const models = { [model]: { chunks: 50, chunkSize: 5 } };
      return await withRig({ models, environment: unlimited }, surroundings, async (rig): Promise<Outcome> => {
        const console = await openConsole(browser, { url: rig.url });
        const { page } = console;
        let lines = 0;
        page.on('websocket', (socket) =>
          socket.on('framereceived', ({ payload }) => {
            if (String(payload).includes('"usageFeed"')) lines++;
          }),
        );
        await signIn(console, rootAccount);
        await visit(page, 'Usage logs', 'Usage log');
        const session = await console.context.newCDPSession(page);
        await session.send('Performance.enable');
        await session.send('HeapProfiler.enable');
        const load = (forSeconds: number) =>
          rig.measure(tallygate, { model, stream: false, pace: { perSecond }, seconds: forSeconds });
        progress('warming up');
        await load(3);
        const kept = [await keptBy(session)];
        const gaps: number[] = [];
        progress(`${perSecond} lines a second for ${seconds} s`);
        for (let left = seconds; left > 0; left -= sectionSeconds) {
          gaps.push(...(await gapsDuring(page, () => load(Math.min(left, sectionSeconds)))));
          kept.push(await keptBy(session));
        }
        const looked = lookedAt(gaps);
        const { problems } = console;
        await console.close();
        const { books, differences } = await rig.checkBooks();
        return {
          figures: { ...looked, linesArrived: lines, kept, books },
          lines: [
            `${lines} lines arrived of ${books.requests} calls`,
            framesLine(looked),
            keptLine(kept),
            booksLine(books, differences),
          ],
          differences: [...problems, ...differences],
        };
      });
    } finally {
      await browser.close();
    }
  },
});
