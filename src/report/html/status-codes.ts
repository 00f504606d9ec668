// What the statuses of HTTP are called. Imported by name, node:http would bring its WebSocket along and with it a whole
// HTTP client: 65 ms of CPU at the start of every crawl.

export const { STATUS_CODES } = process.getBuiltinModule('node:http')
