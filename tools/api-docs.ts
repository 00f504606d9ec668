// docs/api.md and docs/openapi.json, from the table of routes of the control API.

import { z } from 'zod'
import { REQUEST_REFUSALS } from '../src/control/refusals.ts'
import { ROUTES } from '../src/control/api.ts'
import { openApiDocument } from '../src/control/openapi.ts'

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

export function openApiDoc(version: string): string {
  return `${JSON.stringify(openApiDocument(version), null, 2)}\n`
}

function fieldsOf(schema: z.ZodObject | null): string {
  if (schema === null) return ''
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return Object.keys(properties)
    .filter((name) => name !== 'crawl')
    .map((name) => (required.includes(name) ? `\`${name}\`` : `\`${name}\`?`))
    .join(', ')
}

export function apiDoc(note: string, table: Table): string {
  return `${note}

# The control API

Sees and steers crawls over HTTP: JSON in, JSON out. [openapi.json](openapi.json) has every field; a server gives its own at \`/api/openapi.json\`.

## Where it is

- \`portolan ui DIR\` serves it on 127.0.0.1 with the dashboard: of one crawl, or of all crawls in the folders of DIR, whether they run or not. \`portolan crawl --dashboard\` serves it from inside of the crawl.
- Every process that crawls serves it on a unix socket, \`DIR/state/control.sock\` (\`DIR/state/control.json\` says where it is if that path is too long for a socket). Whoever may open the socket may steer; there is no token.

      curl --unix-socket example.org/state/control.sock http://localhost/api/crawls

## Who may ask

Over TCP every request but those for the dashboard's files needs the token that is made at each start, printed once as a link, and kept in \`DIR/state/ui.json\` while \`portolan ui DIR\` runs (mode 600; a file of its own below the system's temporary directory for a folder of crawls, and for a crawl you may only read). \`portolan crawl --dashboard\` only prints it:

      token=$(node -p 'JSON.parse(require("fs").readFileSync("example.org/state/ui.json")).token')
      curl -H "Authorization: Bearer $token" http://127.0.0.1:7480/api/crawls

- The \`Host\` header must be \`localhost\`, the address the connection came in on, or the name given with \`--listen\`; an \`Origin\`, where there is one, must be that of the server. Nothing is allowed from other origins.
- Changes are sent as \`application/json\`, also those without a body (\`{}\`).
- Bodies are bounded to 1 MiB, heads to 16 KiB and 100 headers, connections to 256, listeners to 64. Who sends or reads too slowly is cut.
- \`X-Portolan-Who\` says who asks, for the record of changes (\`state/changes.jsonl\`).

## Routes

Params stand in the path or the query; fields of the body in a JSON object. \`?\`: may be left out. A crawl is named by its folder.

${table(
  ['name', 'route', 'what it does', 'params', 'body'],
  Object.entries(ROUTES).map(([name, { method, path, text, params, body }]) => [
    `\`${name}\``,
    `\`${method} ${path}\``,
    text,
    fieldsOf(params),
    fieldsOf(body),
  ]),
)}

Beside them: \`GET /api/crawls/:crawl/live\`, server-sent events: \`crawl\` with how it stands, at most once a second while something changes, and \`event\` with what happened. A reader who does not read is cut, and begins anew. \`GET /metrics\` is for Prometheus.

Long lists come in parts: \`items\`, and \`next\`, which \`after\` takes; null at the end.

## What is refused

    { "error": { "code": "FIELDS_INVALID", "message": "…", "fields": [{ "where": "options.url.exclude.0", "what": "…" }] } }

\`fields\` names each field that is wrong. Codes are those of faults ([errors.md](errors.md): \`CONFIG_INVALID\` 400, \`CONTROL_UNKNOWN\` 404, \`CONTROL_REFUSED\` and \`LEDGER_LOCKED\` 409, \`DISK_FULL\` 507, others 5xx), and of requests that no crawl heard of:

${table(
  ['code', 'status', 'meaning'],
  Object.entries(REQUEST_REFUSALS).map(([code, { status, text }]) => [`\`${code}\``, String(status), text]),
)}

## A client

\`src/control/client.ts\` is typed by the same table, and runs in browsers too:

    const client = createClient(fetchTransport('http://127.0.0.1:7480', token))
    const { items, next } = await client.call('pages', { crawl: 'example.org', status: 404 })
    await client.call('set', { crawl: 'example.org' }, { options: { frontier: { delay: '5s' } } })
`
}
