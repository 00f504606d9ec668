import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,testweb,test,tools}/**/*.{test,fuzz}.ts'],
    pool: 'forks',
    // One more than the processors of a small machine: crawls rest, and tests wait for them.
    maxWorkers: 3,
    testTimeout: 30_000,
    // Fails a run that leaves promises rejected behind its tests' backs.
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
