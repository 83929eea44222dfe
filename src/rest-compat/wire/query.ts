import type { FastifyRequest } from 'fastify';
import { checkText, searchText, type TextBound } from '../../domain/kernel/bounds.js';
import type { PageRequest } from '../../projections/engine/page.js';

const truths = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const defaultSize = 10;
const maxSize = 100;
/** Far beyond any list; keeps offsets within what the database can count. */
const maxPage = 1_000_000_000;

/** A query string, forgiving as the contract wants it: what cannot be read as asked counts as absent. */
export class Query {
  private constructor(private readonly parameters: URLSearchParams) {}

  static of({ url }: Pick<FastifyRequest, 'url'>): Query {
    const start = url.indexOf('?');
    return new Query(new URLSearchParams(start < 0 ? '' : url.slice(start + 1)));
  }

  /** '' when absent. */
  text(name: string, bound: TextBound = searchText): string {
    const text = this.parameters.get(name) ?? '';
    checkText(name, text, bound);
    return text;
  }

  /** Undefined when absent, which is not the same as empty where it has been signed. */
  given(name: string, bound: TextBound = searchText): string | undefined {
    return this.parameters.has(name) ? this.text(name, bound) : undefined;
  }

  /** 0 when absent or not an integer; clients send `NaN`, `undefined` and nothing at all. */
  integer(name: string): number {
    const text = this.parameters.get(name) ?? '';
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    return Number.isSafeInteger(value) ? value : 0;
  }

  flag(name: string): boolean {
    return truths.has(this.parameters.get(name) ?? '');
  }

  /** Pages counted from 1. */
  page(): PageRequest {
    return { page: Math.min(Math.max(this.integer('p'), 1), maxPage), size: this.size('page_size') };
  }

  /** Pages counted from 0. */
  pageFromZero(sizeName: 'size' | 'page_size'): PageRequest {
    return { page: Math.min(Math.max(this.integer('p'), 0), maxPage - 1) + 1, size: this.size(sizeName) };
  }

  private size(name: string): number {
    const wanted = this.integer(name);
    return wanted <= 0 ? defaultSize : Math.min(wanted, maxSize);
  }
}

/** What `''` and `0` mean in a filter: nothing asked for. */
export const given = <Value extends string | number>(value: Value): Value | undefined =>
  value === '' || value === 0 ? undefined : value;
