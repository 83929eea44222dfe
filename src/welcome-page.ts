/** What a browser gets at `/`: where the interfaces are. */
export const welcomePage = ({
  version,
  graphqlPath,
}: {
  version: string;
  graphqlPath: string;
}): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
  body { max-width: 44rem; margin: 4rem auto; padding: 0 1.25rem; }
  code { background: color-mix(in srgb, currentColor 10%, transparent); padding: .1em .35em; border-radius: .25em; }
  dt { font-weight: 600; margin-top: 1rem; }
  dd { margin: 0; }
  footer { margin-top: 3rem; opacity: .6; font-size: .875rem; }
</style>
<h1>Tallygate</h1>
<p>An AI-model API gateway that charges for every call and can prove every charge.</p>
<dl>
  <dt><code>/v1</code></dt>
  <dd>For callers: the OpenAI API, with an API key of this gateway.</dd>
  <dt><code>${graphqlPath}</code></dt>
  <dd>GraphQL over HTTP and WebSocket: everything there is to see and to do.</dd>
  <dt><code>/api</code></dt>
  <dd>The REST contract for existing clients. <code>GET /api/status</code> tells what is on;
  <code>GET /api/setup</code> whether the first user still has to be made.</dd>
</dl>
<footer>Version ${version}</footer>
</html>
`;
