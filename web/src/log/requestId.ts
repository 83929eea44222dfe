/* A request's id: what callers are given with each answer, and what the text of an error quotes. */

const requestId = /(?<![0-9A-Za-z])\d{17}[0-9A-Za-z]{8}(?![0-9A-Za-z])/;

/** The id in a text, e.g. in a whole error message; null: there is none. */
export const requestIdIn = (text: string): string | null => requestId.exec(text)?.[0] ?? null;

/** Of the page that shows the request. */
export const callAddress = (id: string): string => `/log/${encodeURIComponent(id)}`;
