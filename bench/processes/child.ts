import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/*
 * Every part of the benchmark is a process of its own, so that none takes another's core unseen. Parent and child talk
 * in questions and answers, one at a time; a child whose parent is gone ends.
 */

export interface Child<Question, Answer> {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

type Reply<Answer> = { readonly answer: Answer } | { readonly failure: string };

/** Starts a TypeScript file of this folder. Rejects when it ends instead of answering. */
export function startChild<Question extends object, Answer>(file: string): Child<Question, Answer> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, { execArgv: ['--import', import.meta.resolve('tsx')] });
  const ended = once(child, 'exit');

  return {
    pid: child.pid ?? 0,
    async ask(question) {
      child.send(question);
      const answered = once(child, 'message') as Promise<[Reply<Answer>]>;
      const [reply] = await Promise.race([
        answered,
        ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`))),
      ]);
      if ('failure' in reply) throw new Error(`${file}: ${reply.failure}`);
      return reply.answer;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The child's side: answers questions until the parent is gone. */
export function answerParent<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  const reply = (message: Reply<Answer>): void => void process.send?.(message);
  process.on('message', (question: Question) => {
    answer(question).then(
      (given) => reply({ answer: given }),
      (error: unknown) => reply({ failure: String(error) }),
    );
  });
  process.once('disconnect', () => process.exit(0));
  // Ctrl-C reaches every process of the terminal, and `timeout` ends a whole group; the parent decides the order in
  // which they go, so that a gateway is not left behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
}
