import { defineConfig } from 'vitest/config'
import { announceBuilt, threadsFromBuilt } from './test/built.ts'
import { filesTogether, RunningOrder } from './test/running-order.ts'

announceBuilt()
const together = filesTogether(import.meta.dirname)

export default defineConfig({
  test: {
    pool: 'forks',
    // Twice the processors of a small machine: crawls rest, leases run out, and tests wait for them.
    maxWorkers: 4,
    // For machines that are busy with something else: no test is about how long it takes. What they wait for has limits of its own.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    setupFiles: ['test/patience.ts'],
    // Fails a run that leaves promises rejected behind its tests' backs.
    dangerouslyIgnoreUnhandledErrors: false,
    sequence: { sequencer: RunningOrder },
    projects: [
      {
        extends: true,
        plugins: [threadsFromBuilt()],
        test: {
          name: 'alone',
          include: ['{src,dashboard,testweb,test,tools}/**/*.{test,fuzz}.ts'],
          exclude: together,
          globalSetup: ['test/built.ts'],
        },
      },
      { extends: true, test: { name: 'together', include: together, isolate: false } },
    ],
  },
})
