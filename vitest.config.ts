import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,testweb,test,tools,dashboard}/**/*.{test,fuzz}.ts'],
    pool: 'forks',
    // Twice the processors of a small machine: crawls rest, leases run out, and tests wait for them.
    maxWorkers: 4,
    // For machines that are busy with something else: no test is about how long it takes.
    testTimeout: 60_000,
    // Fails a run that leaves promises rejected behind its tests' backs.
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
