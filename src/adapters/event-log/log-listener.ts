import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newClient, type PostgresConnection } from '../database/postgres.js';
import { shortStatements } from '../database/session-limits.js';
import type { Log } from '../log.js';

interface LogListenerOptions {
  readonly connection: PostgresConnection;
  readonly log: Log;
  /** The writer whose notifications are not worth waking for: our own. */
  readonly writer: string;
  /**
   * Whether the node that serves the log is to notify of what it appends: not in its own process, where that is known.
   */
  readonly announced: boolean;
  readonly onNews: () => void;
  /** A notification can be lost with its connection; this often we look without one. */
  readonly pollMs: number;
}

const reconnectPauseMs = 500;

/** Of those who follow the log in other processes; see migration 0014. */
const followersLock = 812470915375;

/** Notifies when another process has appended to the log: at once by NOTIFY, and regularly in case that is lost. */
export class LogListener {
  private readonly closing = new AbortController();
  private client: pg.Client | null = null;
  private readonly poll: NodeJS.Timeout;
  private readonly running: Promise<void>;

  constructor(private readonly options: LogListenerOptions) {
    this.poll = setInterval(options.onNews, options.pollMs);
    this.running = this.run();
  }

  async close(): Promise<void> {
    clearInterval(this.poll);
    this.closing.abort();
    await this.client?.end().catch(() => null);
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        await this.listen();
      } catch (error) {
        if (!signal.aborted)
          this.options.log.warn({ reason: String(error) }, 'not listening for events of other processes; polling');
      }
      await sleep(reconnectPauseMs, null, { signal }).catch(() => null);
    }
  }

  /** Resolves when the connection ends. */
  private async listen(): Promise<void> {
    const client = newClient(this.options.connection, shortStatements);
    this.client = client;
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('error', (error) => this.options.log.warn({ reason: error.message }, 'lost the listening connection'));
    client.on('notification', ({ payload }) => {
      if (payload?.split(' ')[1] !== this.options.writer) this.options.onNews();
    });
    // A client that is ended while it connects never says how that went.
    await Promise.race([client.connect(), ended]);
    await client.query('LISTEN events_appended');
    if (this.options.announced) await client.query('SELECT pg_advisory_lock_shared($1)', [followersLock]);
    // Whatever came while nobody listened.
    this.options.onNews();
    await ended;
  }
}
