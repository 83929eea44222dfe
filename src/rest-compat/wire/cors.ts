/* The headers for pages of other origins where they may ask at all: where an API key, not a cookie, says who asks. */

export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '43200',
} as const;
