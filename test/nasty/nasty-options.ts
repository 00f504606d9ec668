/**
 * Limits under which a crawl of all nasty hosts takes seconds, not minutes; none of them changes what a host comes to.
 * Time enough that only those are cut off who say nothing for ever.
 */
export const nastyFetchOptions = {
  connectTimeout: '2500ms',
  headTimeout: '2500ms',
  stallTimeout: '2500ms',
  requestTimeout: '4s',
  bodyMax: '72KiB',
  decodedMax: '2MiB',
} as const
