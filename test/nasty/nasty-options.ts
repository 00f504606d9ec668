/** Limits under which no nasty host takes long to be done with; none of them changes what it comes to. */
export const nastyLimits = { bodyMax: '72KiB', decodedMax: '2MiB', http2: 'needed' } as const

/** For those that say nothing for ever: they are given up after this. */
export const nastyPatience = {
  connectTimeout: '500ms',
  headTimeout: '500ms',
  stallTimeout: '500ms',
  requestTimeout: '800ms',
} as const
