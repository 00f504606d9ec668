// The OpenAPI document of the control API, written from its table of routes. docs/openapi.json is this, and so is /api/openapi.json.

import { z } from 'zod'
import { errorSchema, ROUTES } from './api.ts'
import { LIVE_PATH, type RouteName } from './paths.ts'
import { REQUEST_REFUSALS } from './refusals.ts'

interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly [key: string]: unknown
}

export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of Object.entries(ROUTES)) {
    const path = bracesOf(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name as RouteName) }
  }
  paths[bracesOf(LIVE_PATH)] = {
    get: {
      operationId: 'live',
      summary: 'What changes, as server-sent events: `crawl` with how it stands, `event` with something that happened',
      parameters: [crawlParameter()],
      responses: {
        200: { description: 'as long as both sides stay', content: { 'text/event-stream': {} } },
        ...refused(),
      },
    },
  }
  paths['/metrics'] = {
    get: {
      operationId: 'metrics',
      summary: 'Figures of all crawls for Prometheus',
      responses: { 200: { description: 'metrics', content: { 'text/plain': {} } }, ...refused() },
    },
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Portolan control API',
      version,
      description:
        'Sees and steers crawls. Served by `portolan ui` over HTTP with a token, and by every crawl on a unix socket without.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'Made at every start of the server.' } },
      schemas: { Error: schemaOf(errorSchema, 'output') },
    },
  }
}

function operation(name: RouteName): Record<string, unknown> {
  const route = ROUTES[name]
  const { properties = {}, required = [] } = schemaOf(route.params, 'input')
  const inPath = new Set(route.path.match(/(?<=:)\w+/g))
  const parameters = Object.entries(properties).map(([param, schema]) => ({
    name: param,
    in: inPath.has(param) ? 'path' : 'query',
    required: required.includes(param),
    schema,
  }))
  return {
    operationId: name,
    summary: route.text,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === null ? {} : { requestBody: { required: true, content: json(schemaOf(route.body, 'input')) } }),
    responses: { 200: { description: 'done', content: json(schemaOf(route.answer, 'output')) }, ...refused() },
  }
}

function crawlParameter(): Record<string, unknown> {
  return { name: 'crawl', in: 'path', required: true, schema: { type: 'string' } }
}

function refused(): Record<string, unknown> {
  const codes = Object.keys(REQUEST_REFUSALS).join(', ')
  const content = json({ $ref: '#/components/schemas/Error' })
  return { default: { description: `refused, with why: a fault of docs/errors.md, or ${codes}`, content } }
}

function json(schema: unknown): Record<string, unknown> {
  return { 'application/json': { schema } }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

/** /crawls/:crawl → /crawls/{crawl} */
function bracesOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}
